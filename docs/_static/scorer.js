// Pages about a word come before the functions that have it in their names.
var Scorer = {objNameMatch: 8, objPartialMatch: 2, objPrio: {0: 2, 1: 0, 2: -2}, objPrioDefault: 0,
              title: 20, partialTitle: 7, term: 5, partialTerm: 2};
