import {
  contentText,
  hasFunctionCall,
  type Content,
} from '#shared/conversation/documents/content.ts';
import { callId, findCalls, type ToolCall } from '#shared/conversation/context/tool-calls.ts';
import type { Rounds, Turn } from '#shared/conversation/documents/turn.ts';
import { utf8Length } from '#shared/store/names.ts';
import { cutHead } from '#shared/text/cut.ts';
import { textPartId } from '#shared/wire/frame-ids.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import { SHOWN_BEGINNING_CHARACTERS, SHOWN_MAX_BYTES } from '../tools/tool-limits.ts';

/** Whose calls they are, and who answers which. */
interface CallsOwner {
  seq: number;
  rounds?: Pick<Rounds, 'app'> | undefined;
}

/** A value as a frame shows it: of one that no chunk of the stream would hold, its beginning. */
function shown(value: unknown): unknown {
  const json = JSON.stringify(value) ?? 'null';
  const sizeBytes = utf8Length(json);
  if (sizeBytes <= SHOWN_MAX_BYTES) return value;
  return { truncated: true, sizeBytes, beginning: cutHead(json, SHOWN_BEGINNING_CHARACTERS) };
}

const isApps = ({ rounds }: CallsOwner, { index }: ToolCall) =>
  rounds?.app.includes(index) === true;

const named = (owner: CallsOwner, call: ToolCall) => ({
  toolCallId: callId(owner.seq, call.index),
  ...(!isApps(owner, call) && { providerExecuted: true as const }),
  dynamic: true as const,
});

/** What a response says in the stream: its `output` alone where that is all. */
const outputOf = (response: Record<string, unknown>): unknown =>
  'output' in response && Object.keys(response).length === 1 ? response['output'] : response;

/** A call as the stream shows it before it runs. */
export const callChunk = (owner: CallsOwner, call: ToolCall): StreamChunk => ({
  type: 'tool-input-available',
  ...named(owner, call),
  toolName: call.name,
  input: shown(call.args),
});

/** That a tool waits for the user's word. */
export const approvalChunk = ({ seq }: CallsOwner, { index, name }: ToolCall): StreamChunk => ({
  type: 'data-notice',
  id: `approval-${callId(seq, index)}`,
  data: { kind: 'approval', callId: callId(seq, index), toolName: name },
});

/** The response of a call as the stream shows it; nothing while there is none. */
export function responseChunks(owner: CallsOwner, call: ToolCall): StreamChunk[] {
  const { response } = call;
  if (response === undefined) return [];
  const { error } = response;
  return typeof error === 'string'
    ? [{ type: 'tool-output-error', ...named(owner, call), errorText: error }]
    : [{ type: 'tool-output-available', ...named(owner, call), output: shown(outputOf(response)) }];
}

/** The text of one model content as one delta. */
function textChunks(content: Content, id: string): StreamChunk[] {
  const delta = contentText(content);
  return delta === ''
    ? []
    : [
        { type: 'text-start', id },
        { type: 'text-delta', id, delta },
        { type: 'text-end', id },
      ];
}

/**
 * A turn's contents as frames would say them, one group for each call of the model: its text, its calls, and
 * their responses. A call without a response has been said all the same.
 */
export function contentChunks(
  turn: Pick<Turn, 'seq' | 'attempt'> & CallsOwner & { contents: readonly Content[] },
): StreamChunk[][] {
  const calls = findCalls(turn.contents);
  const groups: StreamChunk[][] = [];
  let next = 0;
  for (const content of turn.contents) {
    if (content.role !== 'model') continue;
    const round = groups.length;
    const count = hasFunctionCall(content)
      ? content.parts.filter(({ functionCall }) => functionCall !== undefined).length
      : 0;
    const own = calls.slice(next, (next += count));
    groups.push([
      ...(round === 0 ? [] : [{ type: 'start-step' as const }]),
      ...textChunks(content, textPartId(turn.attempt, round)),
      ...own.map((call) => callChunk(turn, call)),
      ...own.flatMap((call) => responseChunks(turn, call)),
    ]);
  }
  return groups;
}
