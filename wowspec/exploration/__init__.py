"""Plans of faults, run over the steps of recorded specs: enumeration, laws, recoveries, findings, reports."""
