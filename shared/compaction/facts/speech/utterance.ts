const marked = /[?？]\W{0,3}$/u;
/** Endings that ask without a mark. */
const eastern =
  /(?:[吗嗎呢么]|多少|什么|什麼|哪里|哪儿|几点|怎么走|怎么样|(?:です|ます|でしょう)か|나요|까요|인가요|는지요)[。.!！~\s]{0,3}$/u;

/** Whether a sentence asks. Heuristic: in European languages by its mark alone. */
export const isQuestion = (sentence: string): boolean => {
  const said = sentence.trimEnd();
  return marked.test(said) || eastern.test(said);
};

/** `call`: what the model asked of a tool; it was said, but not to the user. */
export type Speaker = 'user' | 'model' | 'call' | 'tool';

/** What one speaker says in a turn, as text. */
export interface Utterance {
  seq: number;
  speaker: Speaker;
  text: string;
  /** When the turn began. */
  at: Date;
}
