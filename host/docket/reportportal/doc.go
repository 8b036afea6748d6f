// Package reportportal reads what ReportPortal's REST API gives into cases, one for each test item that failed.
//
// An export is one JSON text or several one after the other, in any order: pages of items and of logs as the API gives
// them ({"content": [...], "page": {...}}), a launch, the settings of a project with its defect types, or objects that
// hold these under any names. The package knows them by their fields:
//
//	an item         type, name, status; id, uuid, parent, codeRef, hasChildren, hasStats, pathNames, issue; logs in it, if any
//	a log           message, and level or itemId; the latter may be missing for a log that stands in its item
//	a defect type   locator, and typeRef or longName, under subTypes of the settings
//	statistics      of launches and items: their defects name the defect types that are in use
//
// Other fields are passed over, but a field named here has to have its type. Retries and the comments on issues are passed
// over too: a comment is somebody's conclusion.
//
// An item is a case when its status is FAILED or INTERRUPTED and it has no children of its own that count; the logs of
// nested steps (hasStats false) belong to the item that they are in. The case's id is the item's, so that what comes of it
// can be written back. Its document is "log", the messages in the order in which they stand.
//
// The labels are the defect types that the export states, without those to be investigated (ti001): first ReportPortal's
// four, pb001 product bug, ab001 automation bug, si001 system issue, nd001 no defect, which can't be deleted there, and
// then the project's own, as pb_1h7inqu51mgys.
//
// What somebody decided about an item (issue.issueType) is no part of the case. With [Reader.Truth] it is the truth beside
// it, unless the item is still to be investigated or was analysed by a machine.
package reportportal
