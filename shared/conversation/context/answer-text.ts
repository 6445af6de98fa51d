import { contentText, type Content } from '../documents/content.ts';

/** What a turn says to its user: the text of all that the model said in it, one after the other. */
export const answerText = (contents: readonly Content[]): string =>
  contents.map((content) => (content.role === 'model' ? contentText(content) : '')).join('');
