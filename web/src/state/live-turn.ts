import type { AnswerRequest } from '#web/api/chat-api.ts';
import type { ReceivedFrame } from '#web/api/requester.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import type { FinishReason } from '#shared/models/finish-reason.ts';

/** A piece of an answer as the transcript shows it. */
export type AnswerPart =
  | { kind: 'text'; id: string; text: string }
  | { kind: 'tool'; id: string; name: string; input: unknown; output?: unknown; problem?: string }
  | { kind: 'notice'; id: string; notice: 'restarted' | 'loop' | 'rounds' | 'files' | 'approval' };

/** Where an answer stands, as this page knows it. */
type LivePhase =
  'sending' | 'waiting' | 'streaming' | 'reconnecting' | 'done' | 'stopped' | 'failed';

export interface TurnProblem {
  message: string;
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

/** A delta belongs to the part of its id, whether or not its beginning was seen. */
function addText(parts: readonly AnswerPart[], id: string, delta: string): AnswerPart[] {
  if (!parts.some((part) => part.id === id)) return [...parts, { kind: 'text', id, text: delta }];
  return parts.map((part) =>
    part.id === id && part.kind === 'text' ? { ...part, text: part.text + delta } : part,
  );
}

const addResult = (
  parts: readonly AnswerPart[],
  id: string,
  result: { output: unknown } | { problem: string },
): AnswerPart[] =>
  parts.map((part) => (part.id === id && part.kind === 'tool' ? { ...part, ...result } : part));

function notice(
  parts: readonly AnswerPart[],
  { id, data }: Extract<StreamChunk, { type: 'data-notice' }>,
): AnswerPart[] {
  const kept =
    data.kind === 'restarted' ? parts.filter((part) => !data.dropParts.includes(part.id)) : parts;
  return [...kept.filter((part) => part.id !== id), { kind: 'notice', id, notice: data.kind }];
}

function afterChunk(turn: LiveTurn, chunk: StreamChunk): LiveTurn {
  const show = (parts: readonly AnswerPart[]): LiveTurn => ({ ...turn, phase: 'streaming', parts });
  switch (chunk.type) {
    case 'start': {
      const { turnId, shrunken } = chunk.messageMetadata;
      return { ...turn, phase: 'waiting', turnId, turnsLeftOut: shrunken?.turnsLeftOut };
    }
    case 'error':
      return { ...turn, problem: { message: chunk.errorText } };
    case 'abort':
      return { ...turn, phase: 'stopped' };
    case 'finish': {
      const { finishReason } = chunk;
      const phase = turn.phase === 'stopped' ? 'stopped' : 'done';
      return { ...turn, finishReason, phase: finishReason === 'error' ? 'failed' : phase };
    }
    case 'text-start':
      return show(addText(turn.parts, chunk.id, ''));
    case 'text-delta':
      return show(addText(turn.parts, chunk.id, chunk.delta));
    case 'tool-input-available': {
      const { toolCallId: id, toolName: name, input } = chunk;
      const others = turn.parts.filter((part) => part.id !== id);
      return show([...others, { kind: 'tool', id, name, input }]);
    }
    case 'tool-output-available':
      return show(addResult(turn.parts, chunk.toolCallId, { output: chunk.output }));
    case 'tool-output-error':
      return show(addResult(turn.parts, chunk.toolCallId, { problem: chunk.errorText }));
    case 'data-notice':
      return show(notice(turn.parts, chunk));
    case 'start-step':
    case 'text-end':
      return show(turn.parts);
    // The transcript has them as soon as the answer has ended; a later version may tell of more.
    case 'source-url':
    case 'data-searched':
    case 'data-context':
    case 'data-title':
    default:
      return turn;
  }
}

/**
 * An answer after one more event of its stream. An event that was seen already changes nothing, so a
 * connection may begin again anywhere at or before the cursor.
 */
export function applyFrame(turn: LiveTurn, { id, chunk }: ReceivedFrame): LiveTurn {
  if (id !== undefined && turn.lastFrameId !== undefined && id <= turn.lastFrameId) return turn;
  return { ...afterChunk(turn, chunk), lastFrameId: id ?? turn.lastFrameId };
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
