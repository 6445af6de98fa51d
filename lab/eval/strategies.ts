/** What may summarise; each is a value of the setting `SUMMARY_STRATEGY`. */
export const strategyNames = ['ledger', 'gemini-cli'] as const;

export type Strategy = (typeof strategyNames)[number];
