import type { Message, MessageError, MessagePart, MessageState } from '../api.ts';
import type { StoredMessage, StreamChunk } from '../wire/wire.ts';

export const textOf = (parts: readonly MessagePart[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');

type ToolPart = Extract<MessagePart, { type: 'tool' }>;

const isToolOf =
  (callId: string | undefined) =>
  (part: MessagePart): part is ToolPart =>
    part.type === 'tool' && part.callId === callId;

/** With what became of a call. */
const withResult = (
  parts: readonly MessagePart[],
  callId: string | undefined,
  result: Partial<ToolPart>,
): MessagePart[] => parts.map((part) => (isToolOf(callId)(part) ? { ...part, ...result } : part));

/** What a tool gave; one that failed told the model why. */
function resultOf(response: Readonly<Record<string, unknown>>): Partial<ToolPart> {
  const { error } = response;
  const hasFailed = typeof error === 'string' && Object.keys(response).length === 1;
  return hasFailed ? { state: 'failed', error } : { state: 'done', output: response };
}

function addStoredPart(parts: MessagePart[], part: StoredMessage['parts'][number]): MessagePart[] {
  switch (part.type) {
    case 'text':
    case 'file':
      return [...parts, part];
    case 'functionCall': {
      const { callId = '', name, args, providerExecuted } = part;
      const byService = providerExecuted === true;
      return [...parts, { type: 'tool', callId, name, input: args, state: 'running', byService }];
    }
    case 'functionResponse':
      return withResult(parts, part.callId, resultOf(part.response));
    default:
      // A later version of the service may have more.
      return parts;
  }
}

const sourceParts = ({ sources = [] }: StoredMessage): MessagePart[] =>
  sources.map(({ url, title }) => ({ type: 'source', url, title }));

const ANSWER_STATES: Readonly<Record<StoredMessage['state'], MessageState>> = {
  queued: 'queued',
  running: 'running',
  awaiting_tool: 'waiting',
  done: 'done',
  failed: 'failed',
  cancelled: 'stopped',
};

const errorOf = ({ reason, message, retryable }: NonNullable<StoredMessage['error']>) => ({
  reason,
  message,
  isRetryable: retryable,
});

/** A stored message as it is shown. */
export function toMessage(stored: StoredMessage): Message {
  const { openCalls = [], error } = stored;
  const asked = openCalls.filter(({ wants }) => wants === 'approved');
  const parts = asked.reduce(
    (known, { callId }) => withResult(known, callId, { state: 'approval' }),
    stored.parts.reduce(addStoredPart, []),
  );
  return {
    id: stored.id,
    role: stored.role,
    state: stored.role === 'user' ? 'sent' : ANSWER_STATES[stored.state],
    parts: [...parts, ...sourceParts(stored)],
    text: textOf(parts),
    time: stored.createTime,
    seq: stored.seq,
    error: stored.role === 'model' && error ? errorOf(error) : undefined,
    finishReason: stored.finishReason,
    outOfContext: stored.outOfContext,
    isDeleted: stored.deleted,
    rating: stored.feedback?.rating,
    stored,
  };
}

/** An answer as its stream tells of it. */
export interface LiveAnswer {
  state: MessageState;
  parts: readonly MessagePart[];
  /** Of each part, where the stream gave it one. */
  partIds: readonly string[];
  /** The last event that was read: where to go on. */
  lastEventId: string | undefined;
  finishReason?: string;
  error?: MessageError;
}

export const newAnswer = (state: MessageState): LiveAnswer => ({
  state,
  parts: [],
  partIds: [],
  lastEventId: undefined,
});

const withPart = (answer: LiveAnswer, id: string, part: MessagePart): LiveAnswer => {
  const index = answer.partIds.indexOf(id);
  if (index === -1)
    return { ...answer, parts: [...answer.parts, part], partIds: [...answer.partIds, id] };
  return { ...answer, parts: answer.parts.map((known, at) => (at === index ? part : known)) };
};

function withDelta(answer: LiveAnswer, id: string, delta: string): LiveAnswer {
  const known = answer.parts[answer.partIds.indexOf(id)];
  const text = known?.type === 'text' ? known.text + delta : delta;
  return withPart(answer, id, { type: 'text', text });
}

function withNotice(
  answer: LiveAnswer,
  { id, data }: Extract<StreamChunk, { type: 'data-notice' }>,
): LiveAnswer {
  const { kind, ...details } = data;
  if (data.kind === 'approval') {
    const parts = withResult(answer.parts, data.callId, { state: 'approval' });
    return { ...answer, parts };
  }
  const dropParts = data.kind === 'restarted' ? data.dropParts : [];
  const isKept = (_: unknown, index: number): boolean =>
    !dropParts.includes(answer.partIds[index] ?? '');
  const parts = answer.parts.filter(isKept);
  const partIds = answer.partIds.filter(isKept);
  return withPart({ ...answer, parts, partIds }, id, { type: 'notice', kind, details });
}

const stateOfFinish = (answer: LiveAnswer, finishReason: string): MessageState => {
  if (finishReason === 'tool-calls') return 'waiting';
  if (answer.state === 'stopped') return 'stopped';
  return finishReason === 'error' ? 'failed' : 'done';
};

/** The answer after one more event of its stream. */
export function withChunk(answer: LiveAnswer, chunk: StreamChunk): LiveAnswer {
  switch (chunk.type) {
    case 'start': {
      const { shrunken } = chunk.messageMetadata;
      const begun: LiveAnswer = { ...answer, state: 'running' };
      if (!shrunken) return begun;
      return withPart(begun, 'shrunken', {
        type: 'notice',
        kind: 'shrunken',
        details: { ...shrunken },
      });
    }
    case 'text-start':
      return withDelta(answer, chunk.id, '');
    case 'text-delta':
      return withDelta(answer, chunk.id, chunk.delta);
    case 'tool-input-available': {
      const { toolCallId: callId, toolName: name, input, providerExecuted } = chunk;
      const byService = providerExecuted === true;
      const part = { type: 'tool', callId, name, input, state: 'running', byService } as const;
      return withPart(answer, callId, part);
    }
    case 'tool-output-available': {
      const { toolCallId, output } = chunk;
      return { ...answer, parts: withResult(answer.parts, toolCallId, { state: 'done', output }) };
    }
    case 'tool-output-error': {
      const result = { state: 'failed', error: chunk.errorText } as const;
      return { ...answer, parts: withResult(answer.parts, chunk.toolCallId, result) };
    }
    case 'source-url': {
      const { sourceId, url, title } = chunk;
      return withPart(answer, sourceId, {
        type: 'source',
        url,
        title,
      });
    }
    case 'data-notice':
      return withNotice(answer, chunk);
    case 'error': {
      const error = { reason: 'ANSWER_FAILED', message: chunk.errorText, isRetryable: true };
      return { ...answer, error };
    }
    case 'abort':
      return { ...answer, state: 'stopped' };
    case 'finish': {
      const { finishReason } = chunk;
      return { ...answer, finishReason, state: stateOfFinish(answer, finishReason) };
    }
    case 'text-end':
    case 'start-step':
    case 'data-searched':
    case 'data-context':
    case 'data-title':
    default:
      return answer;
  }
}

/** A live answer as it is shown. */
export const liveMessage = (seq: number, live: LiveAnswer, time: string): Message => ({
  id: `m_${seq}`,
  role: 'model',
  state: live.state,
  parts: live.parts,
  text: textOf(live.parts),
  time,
  seq,
  finishReason: live.finishReason,
  error: live.error,
});
