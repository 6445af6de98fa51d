import { contentText, lastQuestionIndex, type ModelRequestBody } from '../server/request.ts';

const BLANK = '____';
/** Of a sentence, what is looked for before and after the blank. */
const SIDE_CHARACTERS = 24;

/** What stands in `text` where the sentence has its blank; undefined where the words around it do not stand there. */
function valueIn(text: string, sentence: string): string | undefined {
  const at = sentence.indexOf(BLANK);
  const before = sentence.slice(0, at).slice(-SIDE_CHARACTERS);
  const after = sentence.slice(at + BLANK.length).slice(0, SIDE_CHARACTERS);
  const start = text.lastIndexOf(before);
  if (start < 0) return undefined;
  const from = start + before.length;
  const end = after === '' ? text.indexOf('\n', from) : text.indexOf(after, from);
  return end < from ? undefined : text.slice(from, end).trim();
}

/** Answers a probe: for each numbered line with a blank what the rest of the prompt says there, or UNKNOWN. */
export function fillBlanks({ contents = [] }: ModelRequestBody): string {
  const asked = lastQuestionIndex(contents);
  const known = contents
    .filter((_, index) => index !== asked)
    .map((content) => contentText(content))
    .join('\n');
  const lines = contentText(contents[asked]).matchAll(/^(\d+)(?: \([\d-]+\))?: (.*____.*)$/gm);
  return [...lines]
    .map(([, number, sentence = '']) => `${number}: ${valueIn(known, sentence) ?? 'UNKNOWN'}`)
    .join('\n');
}
