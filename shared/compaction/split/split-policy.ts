/**
 * How the place is found up to which turns are folded. `tail-tokens`: the newest turns stay, counted in
 * tokens. `preserve-fraction`: Gemini CLI's algorithm, a share of the JSON characters. `adaptive` (default): as
 * `tail-tokens`, at the change of topic that lies near, with a longer tail after errors and questions: it hits
 * 48 % of the marked changes where `tail-tokens` hits 15 % (lab/eval/tokens/split-score.ts, 201 splits).
 */
export const splitPolicies = ['tail-tokens', 'preserve-fraction', 'adaptive'] as const;
export type SplitPolicy = (typeof splitPolicies)[number];
