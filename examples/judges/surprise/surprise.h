/* The handlers, for the exports and for tests. */
#ifndef SURPRISE_H
#define SURPRISE_H

#include "model.h"

void judge(const sc_judge_request *request, sc_judge_response *response);
void discover(const sc_node_request *request, sc_node_response *response);

#endif
