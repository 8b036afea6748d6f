// Package audit has the rubric that an opinion is checked against, and how its
// parts become a report: the rubric, the synthesis of the judges' opinions, the
// score. It is pure: it calls no module, reads no clock and keeps nothing. The
// traversal with the modules is host.Auditor's.
//
// The synthesis is code of the host, so that no module decides by what it
// says of others. Its rules, the stronger first:
//
//  1. A security violation that a judge found, and that stands, caps the
//     criterion at [SecurityCap]. It stands if the judge cites what it is found
//     in, and all that it cites is there.
//  2. Facts beat opinions: a judge that cites evidence that is not there, or
//     that does not stand in the documents, is overruled, and does not count.
//  3. The lead judge weighs most: as much as the others together, and twice a
//     single other.
//  4. Scores that spread over [DissentSpread] are a dissent: it is summarised,
//     and the judges are asked again.
//  5. Judges that are missing lower the confidence, and the report names them.
package audit
