import type { JsonSchema } from '#infra/reference/openapi/schemas.ts';
import type { WireAnswer } from '#test/support/chat/wire-app.ts';
import { misfitOf, resolved, type SchemaNames } from './json-schema.ts';
import type { Target } from './generated-requests.ts';

interface DocumentedResponse {
  content?: Record<string, { schema: JsonSchema }>;
  'x-reasons'?: string[];
}

/** What an error says of itself: the reason of AIP-193's ErrorInfo, wherever the format has it. */
export function reasonOf(answer: WireAnswer): string | undefined {
  if (answer.status < 400) return undefined;
  try {
    const { error } = JSON.parse(answer.text);
    return error.details?.[0]?.reason ?? error.status;
  } catch {
    return undefined;
  }
}

const dataOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length))
    .filter((data) => data !== '[DONE]');

/** The documents that a text in a media type consists of. */
function piecesOf(media: string, text: string): string[] {
  switch (media) {
    case 'application/json':
      return [text];
    case 'application/jsonl':
      return text.split('\n').filter((line) => line !== '');
    case 'text/event-stream':
      return dataOf(text);
    default:
      return [];
  }
}

function contentSchema(schema: JsonSchema | boolean | undefined) {
  const inner = typeof schema === 'object' ? schema.contentSchema : undefined;
  return typeof inner === 'object' ? inner : undefined;
}

/** What one piece is: a document itself, the JSON in a text, or the JSON in the data of an event. */
function pieceSchema(media: string, schema: JsonSchema, names: SchemaNames) {
  if (media === 'text/event-stream') {
    const { data } = resolved(schema, names).properties ?? {};
    return typeof data === 'object' ? contentSchema(data.else ?? data) : undefined;
  }
  return schema.type === 'string' ? contentSchema(schema) : schema;
}

/** Errors of the router itself: the path or the method hit no operation. */
const ROUTER_REASONS = ['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED'];

/** Where an answer is not what the document says of the operation. */
export function answerProblems(answer: WireAnswer, target: Target, names: SchemaNames): string[] {
  const { status, headers, text } = answer;
  const reason = reasonOf(answer);
  if (reason !== undefined && ROUTER_REASONS.includes(reason)) return [];
  const responses: Record<string, DocumentedResponse> = target.operation.responses;
  const response = responses[String(status)];
  if (!response) return [`${status} ${reason ?? ''} is not in the document`];
  const reasons = response['x-reasons'];
  if (reasons && !reasons.includes(reason ?? ''))
    return [`${status} is not said to come with the reason ${reason}`];
  if (!response.content) return text === '' ? [] : [`${status} has a body`];
  const media = (headers.get('content-type') ?? '').replace(/;.*$/, '');
  const content = response.content[media];
  if (!content) return [`${status} comes as ${media}`];
  const schema = pieceSchema(media, content.schema, names);
  if (!schema) return [];
  return piecesOf(media, text).flatMap((piece) => misfitOf(JSON.parse(piece), schema, names) ?? []);
}
