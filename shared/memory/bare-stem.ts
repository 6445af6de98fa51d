const endings = /(?:'s|ing|ed|es|s|e)$/u;
const latinLetters = /^\p{Script=Latin}/u;

/** A stem without what grammar adds: `eats` and `eat`, `study` and `studies`. */
export function bareStem(word: string): string {
  if (!latinLetters.test(word)) return word;
  const bare = word.replace(endings, '');
  return (bare.length >= 3 ? bare : word).replace(/y$/u, 'i');
}
