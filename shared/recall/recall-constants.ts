/**
 * What of the folded turns is brought back with a message, uncalibrated tokens with their label: about 1,500 characters.
 * Chosen by what readers could answer (docs/decisions/0038).
 */
export const RECALL_TOKENS_DEFAULT = 500;
export const RECALL_TOKENS_MAX = 4_000;
