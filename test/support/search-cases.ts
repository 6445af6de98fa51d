/** The part of every long search that is run. SEARCH_SHARE=1 runs all of it. */
const share = Number(process.env.SEARCH_SHARE ?? 0.1);

/** How many of `all` cases a long search tries. */
export const searchCases = (all: number): number => Math.ceil(all * share);
