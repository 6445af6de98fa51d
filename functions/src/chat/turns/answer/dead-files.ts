import {
  foreignFiles,
  mayBeForFile,
  namedParts,
  withoutFiles,
  type LeftOutFile,
} from '#shared/conversation/context/left-out-files.ts';
import { type AppError, reworded } from '#shared/errors.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import type { TurnProgress } from '../store/turn-progress.ts';
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

/** The refusal of a message that brings files itself: any of them may be the reason, so it names them. */
function refusedMessageError(error: AppError, begun: BegunTurn): AppError {
  const files = [...foreignFiles([ownTurn(begun)])];
  if (files.length === 0) return error;
  const addresses = files
    .slice(0, NAMED_ADDRESSES)
    .map(([{ fileData }, { part }]) => `\`message.parts[${part}].url\` (${fileData?.fileUri})`)
    .join(', ');
  return reworded(
    error,
    `The model did not accept the request, perhaps for a file that it cannot read: ${addresses}. Make sure that everybody can open the address and that the model takes files of this type, or upload the file, and send it in a new message.`,
  );
}

/**
 * What may be left out of a refused call, one choice after the other: the files of older turns; then, where the model
 * has read the message's own in an earlier call of the turn, those as well.
 */
function choicesToLeaveOut(
  { begun, progress }: AskedTurn,
  { contents }: ModelRequest,
): LeftOutFile[][] {
  const shown = new Set(contents.flatMap(({ parts }) => parts));
  const files = [...foreignFiles(turnsInPrompt(begun))]
    .filter(([part]) => shown.has(part))
    .map(([, file]) => file);
  const older = files.filter(({ seq }) => seq < begun.attempt.seq);
  const hasBeenRead = progress.contents.length > 0;
  return [older, ...(hasBeenRead && older.length < files.length ? [files] : [])].filter(
    ({ length }) => length > 0,
  );
}

/**
 * The answer to a request whose files at foreign addresses may have died since. Where the model may have refused it for
 * one of them, it is asked once more without those of older turns. `leftOutFiles` of the answer also has those that the
 * turn went without before. Never throws but what `ask` throws.
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
  if (!error || !mayBeForFile(error)) return first;
  for (const choice of choicesToLeaveOut(turn, firstRequest)) {
    const files = [...known, ...choice];
    const next = await ask(requestWithout(files));
    if (!next.error) return { ...next, leftOutFiles: files };
    // Nothing is known of the files where the model was busy, or the turn was stopped.
    if (!mayBeForFile(next.error)) return { ...next, leftOutFiles };
  }
  return { ...first, error: refusedMessageError(error, begun) };
}
