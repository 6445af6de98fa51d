import type { Content, Part } from '#shared/models/content.ts';
import { geminiCliSections } from '#shared/conversation/documents/snapshot.ts';
import { once } from '#shared/lib/once.ts';

/** Characters that are not seen: zero-width ones, joiners, marks of direction, soft hyphens, controls. */
const unseen = String.raw`\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}`;

/** `current_plan` is what older prompts called the task state; the reader still takes it. */
const tagNames = ['state_snapshot', 'scratchpad', ...geminiCliSections, 'current_plan'];
const namePatterns = tagNames.map((name) => name.split('').join(`[${unseen}]*`));
const notOfName = /[^a-z_]/g;

/**
 * The `<` of a tag of the snapshot's format, opening or closing, whatever stands between the sign and
 * the name; and one whose name may go on in the next part. No two of its repetitions can take the same
 * character, so it is linear.
 */
const opening = once(
  () =>
    new RegExp(
      String.raw`<(?=[\s/${unseen}]*(?:(?:${namePatterns.join('|')})(?![a-z0-9_-])|([a-z_][a-z_${unseen}]*)?$))`,
      'giu',
    ),
);

/**
 * Text in which no tag of the snapshot's format is left: `<state_snapshot>` becomes
 * `&lt;state_snapshot>`. For the summariser's input alone, where quoted tags pass for its own format.
 */
export function neutraliseTags(text: string): string {
  if (!text.includes('<')) return text;
  return text.replaceAll(opening(), (sign, atEnd?: string) => {
    const begun = atEnd?.toLowerCase().replaceAll(notOfName, '') ?? '';
    return tagNames.some((name) => name.startsWith(begun)) ? '&lt;' : sign;
  });
}

/** Whether a `<` stands anywhere in a value, names of fields included: most have none and stay as they are. */
function holdsSign(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('<');
  if (Array.isArray(value)) return value.some(holdsSign);
  if (typeof value !== 'object' || value === null) return false;
  return (
    Object.keys(value).some((key) => key.includes('<')) || Object.values(value).some(holdsSign)
  );
}

function neutraliseValue(value: unknown): unknown {
  if (typeof value === 'string') return neutraliseTags(value);
  if (Array.isArray(value)) return value.map(neutraliseValue);
  return typeof value === 'object' && value !== null ? neutraliseRecord(value) : value;
}

const neutraliseRecord = (record: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(record).map(([key, value]) => [neutraliseTags(key), neutraliseValue(value)]),
  );

const isPlain = ({ text, functionCall, functionResponse }: Part): boolean =>
  !(
    text?.includes('<') === true ||
    holdsSign(functionCall?.args) ||
    holdsSign(functionResponse?.response)
  );

function neutralisePart(part: Part): Part {
  if (isPlain(part)) return part;
  const { text, functionCall, functionResponse } = part;
  return {
    ...part,
    ...(text !== undefined && { text: neutraliseTags(text) }),
    ...(functionCall?.args && {
      functionCall: { ...functionCall, args: neutraliseRecord(functionCall.args) },
    }),
    ...(functionResponse?.response && {
      functionResponse: {
        ...functionResponse,
        response: neutraliseRecord(functionResponse.response),
      },
    }),
  };
}

/** The same for a content: its text, and the arguments and results of its tools. The same object where there is nothing to do. */
export const neutraliseContent = (content: Content): Content =>
  content.parts.every(isPlain) ? content : { ...content, parts: content.parts.map(neutralisePart) };
