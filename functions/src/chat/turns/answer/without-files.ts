import {
  foreignFiles,
  mayBeForFile,
  namedParts,
  withoutFiles,
  type LeftOutFile,
} from '#shared/conversation/context/left-out-files.ts';
import { AppError } from '#shared/errors.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import type { TurnProgress } from '../store/turn-progress.ts';
import type { FittingAnswer } from './stream-fitting.ts';

/** Addresses that one error names. */
const NAMED_ADDRESSES = 3;

/** The refusal of a message that brings files itself: any of them may be the reason, so it names them. */
function refusedMessageError(error: AppError, { turn: { user } }: BegunTurn): AppError {
  const addresses = user.parts.flatMap(({ fileData, upload }, index) =>
    fileData && !upload ? [`\`message.parts[${index}].url\` (${fileData.fileUri})`] : [],
  );
  if (addresses.length === 0) return error;
  const { status, reason, message, retryable, retryAfterMs, metadata, cause } = error;
  const named = addresses.slice(0, NAMED_ADDRESSES).join(', ');
  return new AppError({
    status,
    reason,
    message,
    retryable,
    metadata,
    cause,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    publicMessage: `The model did not accept the request, perhaps for a file that it cannot read: ${named}. Make sure that everybody can open the address and that the model takes files of this type, or upload the file, and send it in a new message.`,
  });
}

/**
 * What may be left out of a refused call, one step after the other: the files of older turns, then, where the model
 * has read the message's own in an earlier call of the turn, those as well.
 */
function steps(
  { begun, progress }: { begun: BegunTurn; progress: TurnProgress },
  { contents }: ModelRequest,
): LeftOutFile[][] {
  const shown = new Set(contents.flatMap(({ parts }) => parts));
  const { seq } = begun.attempt;
  const files = [...foreignFiles([...begun.context.turns, { seq, user: begun.turn.user }])]
    .filter(([part]) => shown.has(part))
    .map(([, file]) => file);
  const older = files.filter((file) => file.seq < seq);
  const hasBeenRead = progress.contents.length > 0;
  return [older, ...(hasBeenRead && older.length < files.length ? [files] : [])].filter(
    ({ length }) => length > 0,
  );
}

/** Whether a model began to answer, and may bill for it: then it has read the files. */
const isBegun = ({ parts, usage, misfitUsage, isUnreported }: FittingAnswer): boolean =>
  parts.length > 0 || (usage ?? misfitUsage) !== undefined || isUnreported === true;

/** Whether a file may be why a model did not begin to answer. */
const mayLackFile = (answer: FittingAnswer): boolean =>
  answer.error !== undefined && mayBeForFile(answer.error) && !isBegun(answer);

/**
 * The answer to a request whose files at foreign addresses may have died since: where the model may have refused it for
 * one of them, it is asked once more without those of older turns. `leftOutFiles` of the answer says what was left out,
 * those that the turn went without before included. Never throws but what `ask` throws.
 */
export async function askWithoutDeadFiles(
  turn: { begun: BegunTurn; progress: TurnProgress },
  request: ModelRequest,
  ask: (request: ModelRequest) => Promise<FittingAnswer>,
): Promise<FittingAnswer & Pick<TurnProgress, 'leftOutFiles'>> {
  const { begun, progress } = turn;
  const { leftOutFiles } = progress;
  const turns = [...begun.context.turns, { seq: begun.attempt.seq, user: begun.turn.user }];
  const requestWithout = (files: readonly LeftOutFile[]): ModelRequest => {
    const parts = namedParts(files, turns);
    return {
      ...request,
      contents: request.contents.map((content) => withoutFiles(content, parts)),
    };
  };
  const known = leftOutFiles ?? [];
  const first = requestWithout(known);
  const answer = { ...(await ask(first)), leftOutFiles };
  const { error } = answer;
  if (!error || !mayLackFile(answer)) return answer;
  for (const files of steps(turn, first)) {
    const all = [...known, ...files];
    const next = await ask(requestWithout(all));
    if (!next.error || isBegun(next)) return { ...next, leftOutFiles: all };
    // Nothing is known of the files where the model was busy, or the turn was stopped.
    if (!mayLackFile(next)) return { ...next, leftOutFiles };
  }
  return { ...answer, error: refusedMessageError(error, begun) };
}
