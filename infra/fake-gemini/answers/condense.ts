import { type ModelRequestBody, contentText } from '../server/request.ts';
import { alterNumber, type Vices } from '../server/misbehaviour.ts';

/** Whether a request wants one tool output condensed: prompt id `…-condense-{n}`. */
export const isCondensing = (promptId: string): boolean => /-condense-\d+$/.test(promptId);

const limitLine = /at most ([\d,]+) characters/i;
const FIRST_LINES = 5;
const failure = /error|warning|exception|failed/i;
/** An identifier or a path, and no number of a line. */
const reference = /\d{5,}|\/\w/;

/** The output as it was sent: all between the first line and the next that is equal to it. */
function outputLines(body: ModelRequestBody): string[] {
  const [boundary, ...lines] = contentText(body.contents?.[0]).split('\n');
  const end = lines.indexOf(boundary ?? '');
  const output = lines.slice(0, end < 0 ? undefined : end).filter((line) => line.trim() !== '');
  return [...new Set(output)];
}

/**
 * A tool output in fewer lines, verbatim and in order: the first five and those on failures, then those with
 * identifiers or paths, equal ones once, as many as the limit of characters allows that the request states.
 */
export function condense(body: ModelRequestBody, vices: Vices): string {
  const stated = limitLine.exec(contentText(body.contents?.at(-1)))?.[1];
  let left = Number(stated?.replaceAll(',', '') ?? Number.POSITIVE_INFINITY);
  const lines = outputLines(body).map((text, index) => ({ text, index }));
  const isFirst = ({ text, index }: { text: string; index: number }) =>
    index < FIRST_LINES || failure.test(text);
  const others = lines.filter((line) => !isFirst(line) && reference.test(line.text));
  const kept = [...lines.filter(isFirst), ...others].filter(({ text }) => {
    if (text.length + 1 > left) return false;
    left -= text.length + 1;
    return true;
  });
  const texts = kept.toSorted((a, b) => a.index - b.index).map(({ text }) => text);
  return (vices.inventive === true ? alterNumber(texts) : texts).join('\n');
}
