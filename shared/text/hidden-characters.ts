/** Joins that letters and emoji need, such as those of "👩‍🚀" and of Persian. */
const JOINS = String.raw`(?<=[\p{L}\p{M}\p{Emoji}])[\u200c\u200d\ufe0f]`;

/** Source of a pattern (flag `u`) for what nobody sees of a text: marks that turn its direction, and what hides in it. */
export const HIDDEN_CHARACTER = String.raw`(?!${JOINS})[\p{Cf}\p{Default_Ignorable_Code_Point}]`;

const HIDDEN = new RegExp(HIDDEN_CHARACTER, 'gu');

/** A text as it is seen. */
export const withoutHidden = (text: string): string => text.replaceAll(HIDDEN, '');
