/// arbiter: a judge for Shadowcourt's family `verdict`, in D (-betterC, wasm32), from abi/SPEC.md alone.
///
/// Nothing is copied out of the request: strings are slices into it, and of the indictment only two bytes an item are kept.
/// How it decides stands in README.md; the figures are below.
module judge;

// ---------------------------------------------------------------- memory

extern extern (C) __gshared ubyte __heap_base; // `extern` twice: without the first D defines a byte of its own
pragma(LDC_intrinsic, "llvm.wasm.memory.grow.i32") int wasmGrow(int memory, int pages);
pragma(LDC_intrinsic, "llvm.wasm.memory.size.i32") int wasmSize(int memory);
pragma(LDC_intrinsic, "llvm.trap") void trap();

__gshared uint top;

/// n zeroed bytes (memory above the heap's base is never used twice), or null.
void* take(size_t n)
{
    if (!top) top = (cast(uint) &__heap_base + 15) & ~15u;
    const ulong end = (cast(ulong) top + n + 15) & ~15UL;
    const ulong have = cast(ulong) wasmSize(0) << 16;
    if (end > have && (end > 0xffff0000UL || wasmGrow(0, cast(int)((end - have + 65535) >> 16)) < 0)) return null;
    auto p = cast(void*) top;
    top = cast(uint) end;
    return p;
}

T[] list(T)(size_t n)
{
    auto p = take(n * T.sizeof);
    if (!p) trap(); // §2.16: after a refused growth the host calls it out_of_memory
    return (cast(T*) p)[0 .. n];
}

extern (C) void* memcpy(void* d, const void* s, size_t n)
{
    foreach (i; 0 .. n) (cast(ubyte*) d)[i] = (cast(const(ubyte)*) s)[i];
    return d;
}

extern (C) void* memset(void* d, int c, size_t n)
{
    foreach (i; 0 .. n) (cast(ubyte*) d)[i] = cast(ubyte) c;
    return d;
}

// ---------------------------------------------------------------- reading

alias Str = const(ubyte)[];

bool same(Str a, Str b)
{
    if (a.length != b.length) return false;
    foreach (i; 0 .. a.length) if (a.ptr[i] != b.ptr[i]) return false;
    return true;
}

bool eq(Str a, string b) { return same(a, cast(Str) b); }

enum Kind : ubyte { bad, integer, real_, boolean, text, array, map, other }

/// A head: what comes, and how much of it.
struct Head
{
    Kind kind;
    ulong n; // bytes of a text or other, elements of an array, entries of a map, the integer (two's complement)
    bool negative;
    double f = 0;
}

/// Reads the message from a place on. After a fault `ok` is false, and everything reads as empty.
struct In
{
    const(ubyte)* p;
    const(ubyte)* end;
    bool ok = true;

    size_t left() const { return end - p; }

    ulong be(uint n)
    {
        if (!ok || left < n) { ok = false; return 0; }
        ulong v;
        foreach (i; 0 .. n) v = v << 8 | *p++;
        return v;
    }

    Head head()
    {
        Head h;
        const c = cast(ubyte) be(1);
        if (!ok) return h;
        if (c <= 0x7f) { h.kind = Kind.integer; h.n = c; }
        else if (c <= 0x8f) { h.kind = Kind.map; h.n = c & 15; }
        else if (c <= 0x9f) { h.kind = Kind.array; h.n = c & 15; }
        else if (c <= 0xbf) { h.kind = Kind.text; h.n = c & 31; }
        else if (c >= 0xe0) { h.kind = Kind.integer; h.n = cast(long) cast(byte) c; h.negative = true; }
        else switch (c)
        {
        case 0xc2, 0xc3: h.kind = Kind.boolean; h.n = c & 1; break;
        case 0xca: { const u = cast(uint) be(4); h.kind = Kind.real_; h.f = *cast(const(float)*) &u; break; }
        case 0xcb: { const u = be(8); h.kind = Kind.real_; h.f = *cast(const(double)*) &u; break; }
        case 0xcc, 0xcd, 0xce, 0xcf: h.kind = Kind.integer; h.n = be(1 << (c - 0xcc)); break;
        case 0xd0, 0xd1, 0xd2, 0xd3:
            const bytes = 1u << (c - 0xd0), shift = 64 - 8 * bytes;
            const v = cast(long)(be(bytes) << shift) >> shift;
            h.kind = Kind.integer; h.n = v; h.negative = v < 0;
            break;
        case 0xd9, 0xda, 0xdb: h.kind = Kind.text; h.n = be(1 << (c - 0xd9)); break;
        case 0xdc, 0xdd: h.kind = Kind.array; h.n = be(2 << (c - 0xdc)); break;
        case 0xde, 0xdf: h.kind = Kind.map; h.n = be(2 << (c - 0xde)); break;
        default: ok = false; // nil, bin, extensions, c1: a host writes none of them
        }
        // lengths beyond the bytes left: bad_length of §3.7
        if (h.kind == Kind.text && h.n > left || h.kind == Kind.array && h.n > left || h.kind == Kind.map && h.n * 2 > left) ok = false;
        if (!ok) h = Head.init;
        return h;
    }

    Str text()
    {
        const h = head();
        if (h.kind != Kind.text) { ok = false; return null; }
        auto s = p[0 .. cast(size_t) h.n];
        p += h.n;
        return s;
    }

    uint count(Kind k)
    {
        const h = head();
        if (h.kind != k) { ok = false; return 0; }
        return cast(uint) h.n;
    }

    bool flag()
    {
        const h = head();
        if (h.kind != Kind.boolean) ok = false;
        return h.n == 1;
    }

    double number()
    {
        const h = head();
        if (h.kind == Kind.real_) return h.f;
        if (h.kind == Kind.integer) return h.negative ? cast(double) cast(long) h.n : cast(double) h.n;
        ok = false;
        return 0;
    }

    /// A number from 0 to 1.
    double share()
    {
        const f = number();
        return f >= 0 && f <= 1 ? f : f > 1 ? 1 : 0;
    }

    /// An index; what is below n, or n.
    uint index(uint n)
    {
        const h = head();
        if (h.kind != Kind.integer) ok = false;
        return h.negative || h.n >= n ? n : cast(uint) h.n;
    }

    /// Follows one value without looking at it; the kit's nested ones may be deep, the host's are 32 at most.
    void skip()
    {
        ulong todo = 1;
        while (ok && todo)
        {
            todo--;
            const h = head();
            if (h.kind == Kind.text) p += h.n;
            else if (h.kind == Kind.array) todo += h.n;
            else if (h.kind == Kind.map) todo += 2 * h.n;
        }
    }

    /// The place of a value, which is stepped over.
    In place()
    {
        auto at = this;
        skip();
        at.end = p;
        return at;
    }
}

/// Calls each(key, in) for the entries of a map; `each` reads or skips the value.
void fields(ref In i, scope void delegate(Str, ref In) each)
{
    auto n = i.count(Kind.map);
    while (i.ok && n--) { const k = i.text(); if (i.ok) each(k, i); }
}

void elements(ref In i, scope void delegate(uint, ref In) each)
{
    const n = i.count(Kind.array);
    for (uint k; i.ok && k < n; k++) each(k, i);
}

// ---------------------------------------------------------------- writing

/// The response. It has its room at the end, so that a label of any length fits that the limit lets through.
struct Out
{
    ubyte[] room;
    size_t n;

    void put(ubyte c) { if (n < room.length) room.ptr[n++] = c; else trap(); }
    void raw(Str s) { foreach (c; s) put(c); }
    void map(ubyte k) { put(0x80 | k); }

    void be(ulong v, uint bytes) { while (bytes--) put(cast(ubyte)(v >> 8 * bytes)); }

    void text(Str s)
    {
        if (s.length < 32) put(cast(ubyte)(0xa0 | s.length));
        else if (s.length < 256) { put(0xd9); be(s.length, 1); }
        else if (s.length < 65536) { put(0xda); be(s.length, 2); }
        else { put(0xdb); be(s.length, 4); }
        raw(s);
    }
    void text(string s) { text(cast(Str) s); }

    void real_(double f)
    {
        if (!(f > 0)) f = 0; // -0 too
        if (f > 1) f = 1;
        put(0xcb);
        be(*cast(const(ulong)*) &f, 8);
    }

    ulong result() const { return cast(ulong) cast(uint) room.ptr << 32 | n; }
}

/// A sentence that is put together, before its length is known.
struct Words
{
    ubyte[2048] buf;
    size_t n;

    ref Words opCall(string s) return { foreach (c; s) if (n < buf.length) buf.ptr[n++] = c; return this; }

    ref Words label(Str s) return
    {
        size_t k = s.length;
        if (k > 80)
        {
            k = 80;
            while (k && (s.ptr[k] & 0xc0) == 0x80) k--; // not in the middle of a character
        }
        foreach (c; s.ptr[0 .. k]) if (n < buf.length) buf.ptr[n++] = c;
        return k < s.length ? opCall("...") : this;
    }

    ref Words number(uint v) return
    {
        if (v >= 10) number(v / 10);
        if (n < buf.length) buf.ptr[n++] = cast(ubyte)('0' + v % 10);
        return this;
    }

    /// Two decimals of a number from 0 to 1.
    ref Words share(double f) return
    {
        const v = cast(uint)(f * 100 + 0.5);
        number(v / 100).opCall(".");
        return v % 100 < 10 ? opCall("0").number(v % 100) : number(v % 100);
    }

    Str done() const return { return buf[0 .. n]; }
}

ulong failure(string code, string message)
{
    auto o = Out(list!ubyte(256));
    o.map(1); o.text("failure");
    o.map(2);
    o.text("code"); o.text(code);
    o.text("message"); o.text(message);
    return o.result;
}

// ---------------------------------------------------------------- tables

uint hash(uint h, Str s)
{
    foreach (c; s) h = (h ^ c) * 16777619;
    return h;
}

/// What is known of a label.
struct Label
{
    Str name;
    double doubt = 1; // product of (1 - weight) of what supports it
    uint items;       // that support it with some weight left
}

struct Labels
{
    Label[] all;
    uint n;
    uint[] slots; // index + 1

    void make(uint most)
    {
        uint size = 8;
        while (size < 2UL * most) size *= 2;
        all = list!Label(most);
        slots = list!uint(size);
    }

    /// The label of this name, or null; added if `add`.
    Label* get(Str name, bool add)
    {
        if (!slots.length) return null;
        const mask = cast(uint) slots.length - 1;
        uint h = hash(2166136261, name);
        h ^= h >> 15;
        for (uint i = h & mask;; i = (i + 1) & mask)
        {
            if (!slots.ptr[i])
            {
                if (!add || n == all.length) return null;
                all.ptr[n] = Label(name);
                slots.ptr[i] = ++n;
                return &all.ptr[n - 1];
            }
            auto l = &all.ptr[slots.ptr[i] - 1];
            if (same(l.name, name)) return l;
        }
    }
}

// ---------------------------------------------------------------- the judge

// What a challenge leaves of an item's weight (§8 says that severity is this, and leaves the figures to each judge).
immutable double[4] leaves = [1, 0.85, 0.5, 0];
enum : ubyte { none, minor, weakening, fatal }

// What the host's fact about an item's words makes of it: `absent` names a document and does not stand in it.
immutable double[3] quoted = [1, 0.9, 0.25];
enum : ubyte { stands, unclaimed, absent }

enum leftOut = 0.6;     // of an item of the case that the prosecution kept back
enum found = 0.6;       // of a finding of discovery
enum raised = 0.8;      // of an item that came up in the hearing
enum ceiling = 0.9;     // no single item is beyond doubt
enum lightShare = 0.35; // Light's word is one weak item more
enum margin0 = 0.08;    // by which a label must lead
enum floor0 = 0.4;      // what a label must reach

struct Court
{
    In labels, light, evidence, indictment, exhibits, discovery, contested, brief, hearing, params;
    Str family;
    double margin = margin0, floor = floor0;

    Labels table;
    ubyte[] severity, quote; // of each item of the indictment
    uint challenges, hit;

    void weigh(Str label, double w)
    {
        if (!label.length || !(w > 0)) return;
        if (auto l = table.get(label, false)) { l.doubt *= 1 - w * ceiling; l.items++; }
    }

    void challenge(ref In i)
    {
        uint at = cast(uint) severity.length;
        ubyte s = weakening;
        i.fields((Str k, ref In v) {
            if (k.eq("evidence_index")) at = v.index(at);
            else if (k.eq("severity")) { const t = v.text(); s = t.eq("fatal") ? fatal : t.eq("minor") ? minor : weakening; }
            else v.skip();
        });
        if (at >= severity.length) return;
        challenges++;
        if (!severity.ptr[at]) hit++;
        if (s > severity.ptr[at]) severity.ptr[at] = s; // the strongest counts, once: who repeats it adds nothing
    }

    void challengesOf(ref In i) { i.elements((uint, ref In v) { challenge(v); }); }
}

bool there(ref In i) { return i.p !is null; }

ulong verdict(Str request)
{
    Court c;
    auto i = In(request.ptr, request.ptr + request.length);

    i.fields((Str k, ref In v) {
        if (k.eq("family")) c.family = v.text();
        else if (k.eq("params")) c.params = v.place();
        else if (k.eq("indictment")) c.indictment = v.place();
        else if (k.eq("exhibits")) c.exhibits = v.place();
        else if (k.eq("discovery")) c.discovery = v.place();
        else if (k.eq("contested")) c.contested = v.place();
        else if (k.eq("defense_brief")) c.brief = v.place();
        else if (k.eq("hearing")) c.hearing = v.place();
        else if (k.eq("case")) v.fields((Str k, ref In v) {
            if (k.eq("labels")) c.labels = v.place();
            else if (k.eq("light")) c.light = v.place();
            else if (k.eq("evidence")) c.evidence = v.place();
            else v.skip();
        });
        else v.skip();
    });
    if (!i.ok || i.left) return failure("bad_request", "the request is no message of this contract");
    if (!c.family.eq("verdict")) return failure("not_served", "this module plays the family verdict only");
    if (!c.indictment.there) return failure("no_indictment", "there is nothing to decide without an indictment");
    if (!c.labels.there) return failure("no_labels", "there is nothing to decide between without labels");
    bool ok = true;

    if (c.params.there)
    {
        c.params.elements((uint, ref In v) {
            Str name; double number = 0; bool has;
            v.fields((Str k, ref In v) {
                if (k.eq("name")) name = v.text();
                else if (k.eq("number")) { number = v.share(); has = true; }
                else v.skip();
            });
            if (has && name.eq("margin")) c.margin = number;
            if (has && name.eq("floor")) c.floor = number;
        });
        ok &= c.params.ok;
    }

    // The labels, and the charge among them.
    auto look = c.labels;
    c.table.make(look.count(Kind.array) + 1);
    c.labels.elements((uint, ref In v) { const s = v.text(); if (v.ok) c.table.get(s, true); });
    ok &= c.labels.ok;

    Str chargeName; double prosecution = 0; In items; uint count;
    c.indictment.fields((Str k, ref In v) {
        if (k.eq("charged_defect_type")) chargeName = v.text();
        else if (k.eq("confidence")) prosecution = v.share();
        else if (k.eq("evidence")) { items = v; count = v.count(Kind.array); v = items; items = v.place(); }
        else v.skip();
    });
    ok &= c.indictment.ok;
    if (!ok) return failure("bad_request", "the request is no message of this contract");
    auto charge = c.table.get(chargeName, true);
    if (!chargeName.length || !charge) return failure("no_charge", "the indictment names no charge");

    // What is said against the items.
    c.severity = list!ubyte(count);
    c.quote = list!ubyte(count);
    if (c.exhibits.there)
    {
        c.exhibits.elements((uint, ref In v) {
            uint at = count; ubyte q = unclaimed;
            v.fields((Str k, ref In v) {
                if (k.eq("evidence_index")) at = v.index(count);
                else if (k.eq("quote")) { const t = v.text(); q = t.eq("stands") ? stands : t.eq("absent") ? absent : unclaimed; }
                else v.skip();
            });
            if (at < count) c.quote.ptr[at] = q;
        });
        ok &= c.exhibits.ok;
    }
    if (c.contested.there) { c.challengesOf(c.contested); ok &= c.contested.ok; }
    bool plea; double defense = 0;
    if (c.brief.there)
    {
        c.brief.fields((Str k, ref In v) {
            if (k.eq("challenges")) c.challengesOf(v);
            else if (k.eq("plea_deal")) plea = v.flag();
            else if (k.eq("confidence")) defense = v.share();
            else v.skip();
        });
        ok &= c.brief.ok;
    }

    void item(ref In v, double factor)
    {
        Str supports; double w = 0;
        v.fields((Str k, ref In v) {
            if (k.eq("weight") || k.eq("relevance_confidence") || k.eq("strength")) w = v.share();
            else if (k.eq("supports")) supports = v.text();
            else v.skip();
        });
        if (v.ok) c.weigh(supports, w * factor);
    }

    uint rounds, news;
    auto hearing = c.hearing;
    if (c.hearing.there)
    {
        c.hearing.fields((Str k, ref In v) {
            if (k.eq("rounds")) v.elements((uint, ref In v) {
                rounds++;
                v.fields((Str k, ref In v) {
                    if (k.eq("new_challenges")) c.challengesOf(v);
                    else if (k.eq("new_items")) v.elements((uint, ref In v) { news++; v.skip(); });
                    else v.skip();
                });
            });
            else v.skip();
        });
        ok &= c.hearing.ok;
    }

    // The items of the indictment, then those of the hearing. A table of where each begins finds them again, by source_ref
    // and content: those of the case (§9.2), of which what the prosecution left out counts too, though less, and findings
    // of discovery that somebody raised in the hearing.
    uint size = 8;
    while (size < 2UL * count + 2UL * news) size *= 2;
    auto seen = list!(const(ubyte)*)(size);
    auto end = request.ptr + request.length;

    void names(In v, ref Str r, ref Str t)
    {
        fields(v, (Str k, ref In v) {
            if (k.eq("source_ref") || k.eq("document")) r = v.text();
            else if (k.eq("content") || k.eq("quote")) t = v.text();
            else v.skip();
        });
    }

    // The slot of an item of these names: null where there is none yet.
    const(ubyte)** slot(Str r, Str t)
    {
        uint h = hash(hash(2166136261, r) * 31 + 1, t);
        h ^= h >> 15;
        for (uint s = h & (size - 1);; s = (s + 1) & (size - 1))
        {
            if (!seen.ptr[s]) return &seen.ptr[s];
            Str r2, t2;
            names(In(seen.ptr[s], end), r2, t2);
            if (same(r, r2) && same(t, t2)) return &seen.ptr[s];
        }
    }

    if (items.there)
    {
        elements(items, (uint n, ref In v) {
            const start = v.p;
            item(v, leaves[c.severity.ptr[n]] * quoted[c.quote.ptr[n]]);
            if (!v.ok) return;
            Str r, t;
            names(In(start, end), r, t);
            *slot(r, t) = start;
        });
        ok &= items.ok;
    }
    /// Weighs an item unless it was there before.
    bool fresh(ref In v, double factor, bool keep)
    {
        auto at = v;
        Str r, t;
        v.skip();
        if (!v.ok) return false;
        names(at, r, t);
        auto place = slot(r, t);
        if (*place) return false;
        if (keep) *place = at.p;
        item(at, factor);
        return true;
    }

    if (news) fields(hearing, (Str k, ref In v) {
        if (k.eq("rounds")) v.elements((uint, ref In v) {
            v.fields((Str k, ref In v) {
                if (k.eq("new_items")) v.elements((uint, ref In v) { fresh(v, raised, true); });
                else v.skip();
            });
        });
        else v.skip();
    });

    uint keptBack;
    if (c.evidence.there)
    {
        elements(c.evidence, (uint, ref In v) {
            if (fresh(v, leftOut, false)) keptBack++;
        });
        ok &= c.evidence.ok;
    }
    if (c.discovery.there)
    {
        fields(c.discovery, (Str k, ref In v) {
            if (k.eq("findings")) elements(v, (uint, ref In v) { fresh(v, found, false); });
            else v.skip();
        });
        ok &= c.discovery.ok;
    }
    const heard = charge.items;
    if (c.light.there)
    {
        Str named; double stated = 0;
        fields(c.light, (Str k, ref In v) {
            if (k.eq("classification")) named = v.text();
            else if (k.eq("confidence")) stated = v.share();
            else v.skip();
        });
        c.weigh(named, stated * lightShare);
        ok &= c.light.ok;
    }
    if (!ok) return failure("bad_request", "the request is no message of this contract");

    // The decision: the charge against the strongest of the other labels. Of two that are even the first counts.
    Label* other;
    foreach (k; 0 .. c.table.n)
    {
        auto l = &c.table.all.ptr[k];
        if (l !is charge && l.name.length && (!other || l.doubt < other.doubt)) other = l;
    }
    const against = other ? 1 - other.doubt : 0, stand = 1 - charge.doubt;
    const oddsCharge = stand / (charge.doubt > 1e-6 ? charge.doubt : 1e-6);
    const oddsOther = other ? against / (other.doubt > 1e-6 ? other.doubt : 1e-6) : 0;
    const all = 1 + oddsCharge + oddsOther;
    const needed = plea ? 0 : c.margin;

    Words w;
    string decision;
    Label* final_;
    double confidence;
    if (heard && stand >= c.floor && stand - against >= needed)
    {
        decision = "affirm"; final_ = charge; confidence = oddsCharge / all;
        w(plea ? "The defense concedes, and " : "")(plea ? "the charge " : "The charge ").label(charge.name)(" stands at ").share(stand);
    }
    else if (other && other.items && against >= c.floor && against - stand >= c.margin)
    {
        decision = "amend"; final_ = other; confidence = oddsOther / all;
        w("What is left of the evidence speaks for ").label(other.name)(" at ").share(against)(", for the charge ").label(charge.name)(" at ").share(stand);
    }
    else
    {
        decision = "acquit"; confidence = (oddsCharge > oddsOther ? oddsCharge : oddsOther) / all; // of the nearest label
        w(!heard ? "Nothing is left that supports the charge " : stand < c.floor && against < c.floor ? "Too little is left of the evidence for the charge "
            : "The evidence does not part the charge ").label(charge.name)(" at ").share(stand);
    }
    if (final_ !is other && other && against > 0) w(", against ").label(other.name)(" at ").share(against);
    w("; ").number(c.hit)(" of ").number(count)(count == 1 ? " item is" : " items are")(" challenged");
    if (keptBack) w(", ").number(keptBack)(keptBack == 1 ? " item was" : " items were")(" left out by the prosecution");
    if (rounds) w(", after ").number(rounds)(rounds == 1 ? " round" : " rounds");
    w(".");
    if (final_ && final_.name.length > 900_000) return failure("too_long", "the label does not fit into a response");

    auto o = Out(list!ubyte(w.n + (final_ ? final_.name.length : 0) + 256));
    o.map(1); o.text("artifact");
    o.map(1); o.text("verdict");
    o.map(final_ ? 4 : 3);
    o.text("decision"); o.text(decision);
    if (final_) { o.text("final_classification"); o.text(final_.name); }
    o.text("confidence"); o.real_(confidence);
    o.text("reasoning"); o.text(w.done);
    return o.result;
}

extern (C) uint shadowcourt_alloc(uint n) { return cast(uint) take(n); }

extern (C) ulong shadowcourt_node(uint p, uint n) { return verdict((cast(const(ubyte)*) p)[0 .. n]); }
