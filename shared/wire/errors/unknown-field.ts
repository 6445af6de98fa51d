import { nearestWord } from '#shared/nearest-word.ts';
import { fieldsAt, listFields, type Schema } from './schema-at.ts';

/** Fields of other APIs that people send to ours, and what does the same here. */
const remedies: Readonly<Record<string, string>> = {
  stream:
    'Leave it out, and send the header `Accept: text/event-stream` where the answer shall be a stream.',
};

/** What to do about a field that is not known: the one that was meant, or those there are. */
export function unknownFieldRemedy(
  schema: Schema,
  { path, key }: { path: readonly PropertyKey[]; key: string },
): string {
  const remedy = Object.hasOwn(remedies, key) ? remedies[key] : undefined;
  if (remedy !== undefined) return remedy;
  const fields = fieldsAt(schema, path);
  const owner = fields.find((field) => fieldsAt(schema, [...path, field]).includes(key));
  if (owner !== undefined) return `Put it into \`${owner}\`.`;
  const nearest = nearestWord(key, fields);
  if (nearest !== undefined) return `Did you mean \`${nearest}\`?`;
  const listed = listFields(fields);
  return listed === '' ? 'Remove it.' : `Remove it; there are ${listed}.`;
}
