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
