//! A persona that reads the documents with a language model: for each label of the case it asks which line speaks most for it, and quotes
//! that line. The model answers with a number, so that whatever a document makes it say, all that it can do is choose a line.

use shadowcourt::*;

manifest! {
    name: "line-reader",
    version: "1.0.0",
    calls: ["node"],
    families: ["discover"],
    source: "https://github.com/shadowcourt/shadowcourt/tree/main/examples/readers/rust",
    licence: "Apache-2.0",
}

serve_node_models!(ask, node);

const SCHEMA: &str =
    r#"{"type":"object","additionalProperties":false,"required":["line"],"properties":{"line":{"type":"integer","minimum":0}}}"#;
const ANSWER_TOKENS: i64 = 50;

/// Asks about one label after the other, as long as there are answers. Every call starts anew: the results in the request say how far it is.
fn ask(request: &NodeRequest) -> Option<Completion> {
    let label = request.case.labels.get(request.completions.len())?;
    let lines = numbered(request, &request.models[0]);
    if request.family != Family::Discover || lines.is_empty() || request.completions.iter().any(|c| c.answers.is_empty()) {
        return None;
    }
    let user = format!("{}\nWhich of these lines speaks most for the label \"{}\"? 0 if none does.", lines, label);
    let completion = Completion::new(&request.models[0], ANSWER_TOKENS, &request.prompt, &user);
    Some(Completion { schema: SCHEMA.to_string(), ..completion })
}

fn node(request: NodeRequest) -> Result<Artifact, Failure> {
    if request.family != Family::Discover {
        return Err(Failure::new("wrong_family", "this module plays discover"));
    }
    let mut discovery = Discovery::default();
    if request.completions.is_empty() {
        discovery.missing.push("no language model was asked".to_string());
    }
    for (label, result) in request.case.labels.iter().zip(&request.completions) {
        match lines(&request).nth(number(result.answer()?).wrapping_sub(1)) {
            Some((document, line)) if !line.trim().is_empty() => discovery.findings.push(Finding {
                document: document.to_string(),
                observation: format!("the model chose it for {}", label),
                quote: line.trim().to_string(),
                supports: label.clone(),
                strength: 0.6,
                source: format!("model:{}", result.model),
            }),
            _ => discovery.missing.push(format!("the model names no line for {}", label)),
        }
    }
    Ok(Artifact { discovery: Some(discovery), ..Default::default() })
}

/// The lines of all documents, each with the document's name.
fn lines(request: &NodeRequest) -> impl Iterator<Item = (&str, &str)> {
    request.case.documents.iter().flat_map(|d| d.text.lines().map(move |line| (d.name.as_str(), line)))
}

/// As many lines as the model has room for, with their numbers.
fn numbered(request: &NodeRequest, offer: &ModelOffer) -> String {
    let room = 3 * (offer.context_tokens - ANSWER_TOKENS) - request.prompt.len() as i64 - 1000;
    let mut text = String::new();
    for (i, (_, line)) in lines(request).enumerate() {
        let row = format!("{}| {}\n", i + 1, line);
        if (text.len() + row.len()) as i64 > room {
            break;
        }
        text += &row;
    }
    text
}

/// The number in an answer. The schema lets no other stand there.
fn number(answer: &str) -> usize {
    let digits: String = answer.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(answers: &[&str]) -> NodeRequest {
        let mut r = NodeRequest { family: Family::Discover, prompt: "Read.".to_string(), ..Default::default() };
        r.models = vec![ModelOffer { model: "small".to_string(), context_tokens: 4000, answer_tokens: 500 }];
        r.case.labels = vec!["quota".to_string(), "leak".to_string()];
        r.case.documents = vec![Document { name: "log".to_string(), text: "ok\n  quota exceeded\n".to_string() }];
        for answer in answers {
            let answers = vec![answer.to_string()];
            r.completions.push(CompletionResult { model: "small".to_string(), answers, ..Default::default() });
        }
        r
    }

    #[test]
    fn each_label_is_asked_about() {
        let first = ask(&request(&[])).unwrap();
        assert_eq!((first.answer_tokens, first.samples, first.messages.len()), (50, 1, 2));
        assert!(first.messages[1].content.starts_with("1| ok\n2|   quota exceeded\n"));
        assert!(ask(&request(&["{}"])).unwrap().messages[1].content.contains("the label \"leak\""));
        assert!(ask(&request(&["{}", "{}"])).is_none());
    }

    #[test]
    fn what_the_model_chooses_is_quoted() {
        let discovery = node(request(&[r#"{"line": 2}"#, r#"{"line":0}"#])).unwrap().discovery.unwrap();
        let finding = &discovery.findings[0];
        assert_eq!((finding.quote.as_str(), finding.source.as_str()), ("quota exceeded", "model:small"));
        assert_eq!((discovery.findings.len(), discovery.missing.len()), (1, 1));
    }

    #[test]
    fn without_an_answer_it_fails() {
        let mut r = request(&[]);
        r.completions.push(CompletionResult { outcome: CompletionOutcome::Failed, detail: "down".to_string(), ..Default::default() });
        assert_eq!(node(r).unwrap_err(), Failure::new("model_failed", "down"));
    }
}
