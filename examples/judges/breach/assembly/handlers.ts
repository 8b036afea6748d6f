// The judge, and the persona.

import {
  Artifact, Challenge, ContestRequest, ContestResponse, CriterionOpinion, fail, Family, HearingTurn, JudgeRequest, JudgeResponse, NodeRequest,
  NodeResponse, number, Severity, Side,
} from "../../../../sdk/typescript/assembly";
import { detect, Finding } from "./detect";

/** From here on a text is a breach; the parameter min_probability changes it. */
const BREACH = 0.6;

/** Scores whether the text under audit, or the evidence that it stands on, tries to steer its reader. */
export function judge(request: JudgeRequest): JudgeResponse {
  const response = new JudgeResponse();
  const least = number(request.params, "min_probability", BREACH);
  if (!(least > 0 && least <= 1)) {
    response.failure = fail("bad_parameter", "min_probability is outside (0, 1]");
    return response;
  }
  const text = detect(request.opinion.text);
  let worst = text.probability;
  let argument = sentence("The text", text, least);
  const cited: string[] = [];
  if (text.probability >= least) cited.push("opinion"); // an allegation that cites nothing is overruled
  for (let i = 0; i < request.evidence.length; i++) {
    const found = detect(request.evidence[i].content);
    if (found.probability < least) continue;
    worst = max(worst, found.probability);
    if (!cited.includes(request.evidence[i].sourceRef)) cited.push(request.evidence[i].sourceRef);
    if (cited.length <= 5) argument += " " + sentence(request.evidence[i].sourceRef, found, least);
  }
  for (let i = 0; i < request.criteria.length; i++) {
    const opinion = new CriterionOpinion();
    opinion.judge = request.judge;
    opinion.criterionId = request.criteria[i].criterionId;
    opinion.numericScore = worst >= least ? 1 : 5 - i64(Math.ceil(4 * worst));
    opinion.argument = argument;
    opinion.citedEvidence = cited;
    // Sure of what it finds, less so of what it does not.
    opinion.relevanceConfidence = max(worst, 0.5);
    opinion.securityViolationFound = worst >= least;
    response.opinions.push(opinion);
  }
  return response;
}

/** Contests items whose content addresses the court. */
export function contest(request: ContestRequest): ContestResponse {
  const response = new ContestResponse();
  const least = number(request.params, "min_probability", BREACH);
  for (let i = 0; i < request.items.length; i++) {
    const found = detect(request.items[i].item.content);
    if (found.probability < least) continue;
    const challenge = new Challenge();
    challenge.evidenceIndex = request.items[i].evidenceIndex;
    challenge.severity = Severity.Fatal;
    challenge.challenge = sentence("The item", found, least);
    response.challenges.push(challenge);
  }
  return response;
}

/** Notes, on the bench of a hearing, whether a party addressed the court's readers instead of arguing. */
export function note(request: NodeRequest): NodeResponse {
  const response = new NodeResponse();
  const turn = request.turn;
  if (request.family != Family.Hearing || turn === null || turn.speaker != Side.Bench) {
    response.failure = fail("wrong_family", "this module sits on the bench of a hearing");
    return response;
  }
  const least = number(request.params, "min_probability", BREACH);
  const note = new HearingTurn();
  note.argument =
    sentence("The prosecution", detect(turn.prosecutionArgument), least) + " " + sentence("The defense", detect(turn.defenseRebuttal), least);
  const artifact = new Artifact();
  artifact.hearingTurn = note;
  response.artifact = artifact;
  return response;
}

function sentence(subject: string, found: Finding, least: f64): string {
  if (found.kinds.length == 0) return subject + " says what it says and asks for nothing.";
  const verdict = found.probability < least ? " may address its reader: " : " addresses its reader: ";
  return subject + verdict + found.kinds.join(", ") + (found.passage == "" ? "." : ': "' + found.passage + '".');
}
