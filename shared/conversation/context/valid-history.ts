import type { Content, Part } from '../documents/content.ts';
import { isWellFormedValue, NAME } from '../repair/repair-part.ts';

/** Keys of a part beside its one payload, with which it is still whole. */
const BESIDE: ReadonlySet<string> = new Set(['thought', 'thoughtSignature']);

/** Whether a part holds `payload` and nothing else that somebody might have to mend. */
function holdsAlone(part: Part, payload: 'text' | 'functionCall' | 'functionResponse'): boolean {
  for (const key in part) if (key !== payload && !BESIDE.has(key)) return false;
  return part.thoughtSignature?.isWellFormed() ?? true;
}

const isWholeText = (part: Part): boolean =>
  typeof part.text === 'string' &&
  part.text !== '' &&
  part.text.isWellFormed() &&
  holdsAlone(part, 'text');

const isWholeCall = (part: Part): boolean =>
  part.functionCall !== undefined &&
  NAME.test(part.functionCall.name) &&
  holdsAlone(part, 'functionCall') &&
  isWellFormedValue(part.functionCall);

/** Under the name and the id of its call. */
const answers = ({ functionResponse }: Part, { functionCall }: Part): boolean =>
  functionResponse?.name === functionCall?.name && functionResponse?.id === functionCall?.id;

const isWholeResponse = (part: Part, call: Part | undefined): boolean =>
  part.functionResponse !== undefined &&
  call !== undefined &&
  answers(part, call) &&
  holdsAlone(part, 'functionResponse') &&
  isWellFormedValue(part.functionResponse);

const isCall = ({ functionCall }: Part) => functionCall !== undefined;

/** What may come next. */
type Before = 'nothing' | 'user' | 'model' | 'responses' | readonly Part[];

/** The content as what stands before the next one, calls as themselves; undefined where something is to be mended. */
function whatStands({ role, parts }: LooseContent, before: Before): Before | undefined {
  if (parts === undefined || parts.length === 0) return undefined;
  if (typeof before === 'object')
    return role === 'user' &&
      parts.length === before.length &&
      parts.every((part, index) => isWholeResponse(part, before[index]))
      ? 'responses'
      : undefined;
  if (role === before) return undefined;
  if (role === 'user') return parts.every(isWholeText) ? 'user' : undefined;
  if (role !== 'model' || !parts.every((part) => isWholeText(part) || isWholeCall(part)))
    return undefined;
  return parts.some(isCall) ? parts.filter(isCall) : 'model';
}

/**
 * Whether `repairContents` would find nothing to mend, as in nearly every history: words of both sides in turn, each
 * call answered at once by a content of nothing but the responses, in the order and under the ids of the calls.
 * False proves nothing: files and what else is rare are left to mending itself. Makes no copies.
 */
export function isValidHistory(contents: readonly LooseContent[]): contents is readonly Content[] {
  let before: Before = 'nothing';
  for (const content of contents) {
    const stands = whatStands(content, before);
    if (stands === undefined) return false;
    before = stands;
  }
  return typeof before === 'string';
}
/** A content as somebody may have written it. */
export interface LooseContent {
  role?: string | undefined;
  parts?: readonly Part[] | undefined;
}
