import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { servedDocument } from './api-document.ts';

/** The types of the API that the TypeScript client uses: its name for each, and the one of the document. */
const used = {
  ContextObject: 'ContextObject',
  ConversationRow: 'ReadConversationResponse',
  SearchAllResult: 'SearchAllConversationsResponse',
  StoredMessage: 'Message',
  StreamChunk: 'StreamChunk',
  UserEvent: 'ListUserEventsResponse',
};

const BANNER =
  '/** Of the API, made by `npm run generate`; docs/reference/api.md says what each field means. */';

/** The source of the TypeScript client's types of the API. */
export async function clientTypes(): Promise<string> {
  const entries = Object.entries(used);
  const root = {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, schema]) => [name, { $ref: `#/components/schemas/${schema}` }]),
    ),
    required: Object.keys(used),
    components: servedDocument().components,
  };
  const schema = JSON.parse(
    JSON.stringify(root, (key, value: unknown) =>
      key === 'description' && typeof value === 'string' ? undefined : value,
    ),
  ) as JSONSchema;
  const types = await compile(schema, 'Wire', {
    additionalProperties: false,
    bannerComment: BANNER,
  });
  const aliases = entries
    .filter(([name]) => !types.includes(`export interface ${name} `))
    .map(([name]) => `export type ${name} = Wire['${name}'];\n`);
  return `${types}\n${aliases.join('')}`;
}
