import {
  type LeftOutFile,
  choicesToLeaveOut,
  filesOfTurns,
  mayBeForFile,
  namedParts,
  withoutFiles,
} from '#shared/conversation/context/left-out-files.ts';
import { type AppError, reworded } from '#shared/lib/errors.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import type { BegunTurn, TurnProgress } from '../start/begun-turn.ts';
import type { FittingAnswer } from './stream-fitting.ts';

/** Addresses that one error names. */
const NAMED_ADDRESSES = 3;

/** An answer, and the files that the turn goes without from then on. */
export type CallAnswer = FittingAnswer & Pick<TurnProgress, 'leftOutFiles'>;

interface AskedTurn {
  begun: BegunTurn;
  progress: TurnProgress;
}

const ownTurn = ({ attempt, turn }: BegunTurn) => ({ seq: attempt.seq, user: turn.user });

/** The turns whose messages the call of a turn may show. */
const turnsInPrompt = (begun: BegunTurn) => [...begun.context.turns, ownTurn(begun)];

/** The refusal of a message that brings files itself: any of them may be the reason, so it names their addresses. */
function refusedMessageError(error: AppError, addresses: readonly string[]): AppError {
  if (addresses.length === 0) return error;
  const named = addresses.slice(0, NAMED_ADDRESSES).join(', ');
  return reworded(
    error,
    `The model did not accept the request, perhaps for a file that it cannot read: ${named}. Make sure that everybody can open the address and that the model takes files of this type, or upload the file, and send it in a new message.`,
  );
}

const addressesInMessage = ({ turn: { user } }: BegunTurn): string[] =>
  user.parts.flatMap(({ fileData, upload }, index) =>
    fileData && !upload ? [`\`message.parts[${index}].url\` (${fileData.fileUri})`] : [],
  );

/**
 * What may be left out of a refused call, one choice after the other: the files of older turns; then, where the model
 * has read the message's own in an earlier call of the turn, those as well.
 */
function choicesOfTurn(
  { begun, progress }: AskedTurn,
  { contents }: ModelRequest,
): LeftOutFile[][] {
  const shown = new Set(contents.flatMap(({ parts }) => parts));
  const files = new Map(
    [...filesOfTurns(turnsInPrompt(begun))].filter(([part]) => shown.has(part)),
  );
  const older = [...files].flatMap(([part, { seq }]) => (seq < begun.attempt.seq ? [part] : []));
  const hasBeenRead = progress.contents.length > 0;
  const all = hasBeenRead && older.length < files.size ? [[...files.keys()]] : [];
  return [...choicesToLeaveOut(older), ...all].map((parts) =>
    parts.flatMap((part) => files.get(part) ?? []),
  );
}

/** Whether a model began to answer, and may bill for it: then it has read the files. */
const isBegun = ({ parts, usage, misfitUsage, isUnreported }: FittingAnswer): boolean =>
  parts.length > 0 || (usage ?? misfitUsage) !== undefined || isUnreported === true;

/** Whether a file may be why a model did not begin to answer. */
const mayLackFile = (answer: FittingAnswer): boolean =>
  answer.error !== undefined && mayBeForFile(answer.error) && !isBegun(answer);

/**
 * The answer to a request whose files the model may not be able to read any more. Where it may have refused it for one of
 * them, it is asked again without those of older turns. `leftOutFiles` of the answer also has those that the turn went
 * without before. Never throws but what `ask` throws.
 */
export async function askWithoutDeadFiles(
  turn: AskedTurn,
  request: ModelRequest,
  ask: (request: ModelRequest) => Promise<FittingAnswer>,
): Promise<CallAnswer> {
  const { begun, progress } = turn;
  const { leftOutFiles } = progress;
  const turns = turnsInPrompt(begun);
  const requestWithout = (files: readonly LeftOutFile[]): ModelRequest => {
    const parts = namedParts(files, turns);
    return {
      ...request,
      contents: request.contents.map((content) => withoutFiles(content, parts)),
    };
  };
  const known = leftOutFiles ?? [];
  const firstRequest = requestWithout(known);
  const first = { ...(await ask(firstRequest)), leftOutFiles };
  const { error } = first;
  if (!error || !mayLackFile(first)) return first;
  for (const choice of choicesOfTurn(turn, firstRequest)) {
    const files = [...known, ...choice];
    const next = await ask(requestWithout(files));
    if (!next.error || isBegun(next)) return { ...next, leftOutFiles: files };
    // Nothing is known of the files where the model was busy, or the turn was stopped.
    if (!mayLackFile(next)) return { ...next, leftOutFiles };
  }
  return { ...first, error: refusedMessageError(error, addressesInMessage(begun)) };
}
