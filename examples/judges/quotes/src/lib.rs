//! A judge of quotations: does what is quoted stand in the evidence?

mod contest;
mod extract;
mod hearing;
mod judge;
mod similar;

shadowcourt::manifest! {
    name: "quotes",
    version: "1.0.0",
    calls: ["node", "contest", "judge"],
    families: ["hearing"],
    criteria: ["quotations"],
    source: "https://github.com/shadowcourt/shadowcourt/tree/main/examples/judges/quotes",
    licence: "Apache-2.0",
}

shadowcourt::serve_node!(hearing::note);
shadowcourt::serve_contest!(contest::contest);
shadowcourt::serve_judge!(judge::judge);
