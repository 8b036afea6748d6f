/* The manifest (SPEC.md §1.4), written into the module's custom section when it is compiled. Included by shadowcourt.h.
 *
 *   SC_MANIFEST("my-judge", "0.1.0",
 *     SC_LIST("judge"),            calls: node, contest, edges, judge
 *     SC_LIST(),                   families of the nodes that it plays
 *     SC_LIST(),                   edge rules that it knows
 *     SC_LIST("evidence"),         criteria that it judges
 *     SC_LIST())                   capabilities that it asks for
 *
 * A list holds 32 words at most, a word 31 bytes. Put SC_MANIFEST into one file of the module, once. */
#ifndef SHADOWCOURT_MANIFEST_H
#define SHADOWCOURT_MANIFEST_H

#ifdef __wasm__

#define SC_LIST_COUNT(...) SC_LIST_COUNT_OF(__VA_OPT__(__VA_ARGS__, ) \
  32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SC_LIST_COUNT_OF(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, N, ...) N

#define SC_DEFER(...) __VA_ARGS__ SC_NOTHING()
#define SC_NOTHING()
#define SC_SCAN(...) SC_SCAN4(SC_SCAN4(SC_SCAN4(__VA_ARGS__)))
#define SC_SCAN4(...) SC_SCAN3(SC_SCAN3(SC_SCAN3(__VA_ARGS__)))
#define SC_SCAN3(...) SC_SCAN2(SC_SCAN2(SC_SCAN2(__VA_ARGS__)))
#define SC_SCAN2(...) __VA_ARGS__
#define SC_WORDS(word, ...) "sc_text \"" word "\"\n" __VA_OPT__(SC_DEFER(SC_WORDS_AGAIN)()(__VA_ARGS__))
#define SC_WORDS_AGAIN() SC_WORDS

#define SC_NUMERAL(n) SC_NUMERAL_OF(n)
#define SC_NUMERAL_OF(n) #n
#define SC_LIST(...) "sc_list " SC_NUMERAL(SC_LIST_COUNT(__VA_ARGS__)) "\n" __VA_OPT__(SC_SCAN(SC_WORDS(__VA_ARGS__)))

#define SC_MANIFEST(name, version, calls, families, edges, criteria, capabilities)           \
  __asm__(".section .custom_section.shadowcourt.manifest,\"\",@\n"                           \
          ".macro sc_text text\n"                                                            \
          ".int8 0xa0 + .Lsc_end\\@ - .Lsc_begin\\@\n"                                       \
          ".Lsc_begin\\@:\n.ascii \"\\text\"\n.Lsc_end\\@:\n"                                \
          ".endm\n"                                                                          \
          ".macro sc_list count\n"                                                           \
          ".if \\count > 15\n.int8 0xdc\n.int8 0\n.int8 \\count\n.else\n.int8 0x90 + \\count\n.endif\n" \
          ".endm\n"                                                                          \
          ".int8 0x88\n"                                                                     \
          "sc_text \"name\"\nsc_text \"" name "\"\n"                                         \
          "sc_text \"version\"\nsc_text \"" version "\"\n"                                   \
          "sc_text \"abi\"\nsc_text \"" SC_ABI_VERSION "\"\n"                                \
          "sc_text \"calls\"\n" calls                                                        \
          "sc_text \"families\"\n" families                                                  \
          "sc_text \"edges\"\n" edges                                                        \
          "sc_text \"criteria\"\n" criteria                                                  \
          "sc_text \"capabilities\"\n" capabilities                                          \
          ".purgem sc_text\n.purgem sc_list\n"                                               \
          ".text\n");

#else

#define SC_LIST(...) ""
#define SC_MANIFEST(name, version, calls, families, edges, criteria, capabilities)

#endif

#endif
