import type { AnswerRequest } from '#web/api/chat-api.ts';
import type { ReceivedFrame } from '#web/api/event-stream.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import type { UsageView } from '#shared/wire/resources/turns.ts';
import type { FinishReason } from '#shared/wire/finish-reason.ts';

/** A piece of an answer as the transcript shows it. */
export type AnswerPart =
  | { kind: 'text'; id: string; text: string; isDone: boolean }
  | {
      kind: 'tool';
      id: string;
      name: string;
      input: unknown;
      output?: unknown;
      problem?: string;
    }
  | { kind: 'notice'; id: string; notice: 'restarted' | 'loop' | 'rounds' | 'approval' };

/** Where an answer stands, as this page knows it. */
type LivePhase =
  'sending' | 'waiting' | 'streaming' | 'reconnecting' | 'done' | 'stopped' | 'failed';

export interface TurnProblem {
  message: string;
  reason?: string;
  retryAfterMs?: number | undefined;
  /** The same again would be refused again. */
  isFinal?: boolean;
}

/** A turn that this page asked for or follows, until the transcript has it. */
export interface LiveTurn {
  request: AnswerRequest;
  /** Absent until the service has told it. */
  turnId?: string | undefined;
  /** Another device asked for it. */
  isFollowed: boolean;
  phase: LivePhase;
  parts: readonly AnswerPart[];
  /** Cursor of a resumption. */
  lastFrameId?: number | undefined;
  finishReason?: FinishReason | undefined;
  usage?: UsageView | undefined;
  turnsLeftOut?: number | undefined;
  problem?: TurnProblem | undefined;
}

export const beginLiveTurn = (request: AnswerRequest, turnId?: string): LiveTurn => ({
  request,
  turnId,
  isFollowed: turnId !== undefined,
  phase: 'sending',
  parts: [],
});

export const isOpen = ({ phase }: Pick<LiveTurn, 'phase'>): boolean =>
  phase !== 'done' && phase !== 'stopped' && phase !== 'failed';

/** Number of a turn in the transcript; undefined while it is not known. */
export const liveSeq = ({ turnId }: Pick<LiveTurn, 'turnId'>): number | undefined =>
  turnId === undefined ? undefined : Number(turnId.slice('t_'.length));

function replacePart(
  parts: readonly AnswerPart[],
  id: string,
  change: (part: AnswerPart) => AnswerPart,
): AnswerPart[] {
  return parts.map((part) => (part.id === id ? change(part) : part));
}

const endText = (part: AnswerPart): AnswerPart =>
  part.kind === 'text' ? { ...part, isDone: true } : part;

/** A delta belongs to the part of its id, whether or not its beginning was seen. */
function addText(parts: readonly AnswerPart[], id: string, delta: string): AnswerPart[] {
  const last = parts.find((part) => part.id === id);
  if (last?.kind !== 'text') return [...parts, { kind: 'text', id, text: delta, isDone: false }];
  return replacePart(parts, id, (part) =>
    part.kind === 'text' ? { ...part, text: part.text + delta } : part,
  );
}

function notice(
  parts: readonly AnswerPart[],
  { id, data }: Extract<StreamChunk, { type: 'data-notice' }>,
): AnswerPart[] {
  const kept =
    data.kind === 'restarted' ? parts.filter((part) => !data.dropParts.includes(part.id)) : parts;
  return [...kept.filter((part) => part.id !== id), { kind: 'notice', id, notice: data.kind }];
}

function partsAfter(parts: readonly AnswerPart[], chunk: StreamChunk): readonly AnswerPart[] {
  switch (chunk.type) {
    case 'text-start':
      return parts.some((part) => part.id === chunk.id)
        ? parts
        : [...parts, { kind: 'text', id: chunk.id, text: '', isDone: false }];
    case 'text-delta':
      return addText(parts, chunk.id, chunk.delta);
    case 'text-end':
      return replacePart(parts, chunk.id, endText);
    case 'tool-input-available':
      return [
        ...parts.filter((part) => part.id !== chunk.toolCallId),
        { kind: 'tool', id: chunk.toolCallId, name: chunk.toolName, input: chunk.input },
      ];
    case 'tool-output-available':
      return replacePart(parts, chunk.toolCallId, (part) =>
        part.kind === 'tool' ? { ...part, output: chunk.output } : part,
      );
    case 'tool-output-error':
      return replacePart(parts, chunk.toolCallId, (part) =>
        part.kind === 'tool' ? { ...part, problem: chunk.errorText } : part,
      );
    case 'data-notice':
      return notice(parts, chunk);
    case 'start':
    case 'start-step':
    case 'data-context':
    case 'data-title':
    case 'error':
    case 'abort':
    case 'finish':
      return parts;
  }
}

function afterChunk(turn: LiveTurn, chunk: StreamChunk): LiveTurn {
  switch (chunk.type) {
    case 'start':
      return {
        ...turn,
        phase: 'waiting',
        turnId: chunk.messageMetadata.turnId,
        turnsLeftOut: chunk.messageMetadata.shrunken?.turnsLeftOut,
      };
    case 'error':
      return { ...turn, problem: { message: chunk.errorText } };
    case 'abort':
      return { ...turn, phase: 'stopped' };
    case 'finish': {
      const { finishReason, messageMetadata } = chunk;
      const ended = { ...turn, finishReason, usage: messageMetadata.usage };
      if (finishReason === 'error') return { ...ended, phase: 'failed' };
      return { ...ended, phase: turn.phase === 'stopped' ? 'stopped' : 'done' };
    }
    case 'start-step':
    case 'text-start':
    case 'text-delta':
    case 'text-end':
    case 'tool-input-available':
    case 'tool-output-available':
    case 'tool-output-error':
    case 'data-context':
    case 'data-title':
    case 'data-notice':
      return { ...turn, phase: 'streaming', parts: partsAfter(turn.parts, chunk) };
  }
}

/**
 * An answer after one more event of its stream. An event that was seen already changes nothing, so a
 * connection may begin again anywhere at or before the cursor.
 */
export function applyFrame(turn: LiveTurn, { id, chunk }: ReceivedFrame): LiveTurn {
  if (id !== undefined && turn.lastFrameId !== undefined && id <= turn.lastFrameId) return turn;
  const next =
    chunk.type.startsWith('data-') && chunk.type !== 'data-notice' ? turn : afterChunk(turn, chunk);
  return { ...next, lastFrameId: id ?? turn.lastFrameId };
}

/** Before a connection without a cursor: everything comes again, collapsed. */
export const forgetFrames = (turn: LiveTurn): LiveTurn => ({
  ...turn,
  parts: [],
  lastFrameId: undefined,
  problem: undefined,
});

/** The text of an answer as it stands. */
export const partsText = (parts: readonly AnswerPart[]): string =>
  parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n');
