import { nearestWord } from '#shared/text/nearest-word.ts';
import { fieldsAt, listFields, type Schema } from './schema-at.ts';

/** Fields of other APIs that people send to ours, and what does the same here. */
const remedies: Readonly<Record<string, string>> = {
  stream:
    'Leave it out, and send the header `Accept: text/event-stream` where the answer shall be a stream.',
};

/** What is set on a conversation and not with a message of it. */
const OF_CONVERSATION: ReadonlySet<string> = new Set([
  'model',
  'profile',
  'settings',
  'system',
  'systemInstruction',
  'thresholdTokens',
  'tools',
]);
const ON_CONVERSATION = 'It is set on the conversation: PATCH /v1/conversations/{conversationId}.';

/** What other APIs call the text of a message. */
const TEXT_NAMES: ReadonlySet<string> = new Set(['text', 'content', 'contents', 'prompt']);
const TEXT_PLACE = 'The text goes into the parts of the message: [{"type":"text","text":"…"}].';

const OPENAI_TOOL =
  'Take the fields out of `function`, put them in its place, and leave `type` out.';

/** Whether a field is what a tool of OpenAI's form has in the place of ours: the cause of all else. */
export const isOpenAiTool = ({ path, key }: { path: readonly PropertyKey[]; key: string }) =>
  key === 'function' && path.at(-2) === 'tools';

const at = (path: readonly PropertyKey[]) => path.map((key) => `${String(key)}.`).join('');

/** Where a field belongs that is known, one level above or below the object in which it was sent. */
function rightPlace(
  schema: Schema,
  { path, key }: { path: readonly PropertyKey[]; key: string },
): string | undefined {
  const above = path.slice(0, -1);
  const holder = path.at(-1);
  if (typeof holder === 'string' && fieldsAt(schema, above).includes(key))
    return `It stands beside \`${at(above)}${holder}\`, not in it.`;
  const below = fieldsAt(schema, path).find((name) =>
    fieldsAt(schema, [...path, name]).includes(key),
  );
  return below === undefined ? undefined : `It belongs into \`${at(path)}${below}\`.`;
}

/** What to do about a field that belongs to another object or request of ours. */
function moveRemedy(
  schema: Schema,
  place: { path: readonly PropertyKey[]; key: string },
): string | undefined {
  if (isOpenAiTool(place)) return OPENAI_TOOL;
  const moved = rightPlace(schema, place);
  if (moved !== undefined) return moved;
  const fields = fieldsAt(schema, place.path);
  if (
    fields.includes('onBusy') &&
    fields.includes('responseSchema') &&
    OF_CONVERSATION.has(place.key)
  )
    return ON_CONVERSATION;
  const isMessage = fields.includes('message') || fields.includes('parts');
  return isMessage && TEXT_NAMES.has(place.key) ? TEXT_PLACE : undefined;
}

/** What to do about a field that is not known: where it belongs, the one that was meant, or those there are. */
export function unknownFieldRemedy(
  schema: Schema,
  { path, key }: { path: readonly PropertyKey[]; key: string },
): string {
  const remedy = Object.hasOwn(remedies, key) ? remedies[key] : moveRemedy(schema, { path, key });
  if (remedy !== undefined) return remedy;
  const fields = fieldsAt(schema, path);
  const nearest = nearestWord(key, fields);
  if (nearest !== undefined) return `Did you mean \`${nearest}\`?`;
  const listed = listFields(fields);
  return listed === '' ? 'Remove it.' : `Remove it; there are ${listed}.`;
}
