import {
  filesIn,
  filesOfTurns,
  mayBeForFile,
  namedParts,
  stepsWithout,
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

/** The refusal of a message that brings files itself: any of them may be the reason, so it names their addresses. */
function refusedMessageError(error: AppError, addresses: readonly string[]): AppError {
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

const addressesInMessage = ({ turn: { user } }: BegunTurn): string[] =>
  user.parts.flatMap(({ fileData, upload }, index) =>
    fileData && !upload ? [`\`message.parts[${index}].url\` (${fileData.fileUri})`] : [],
  );

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
  const files = new Map(
    [...filesOfTurns([...begun.context.turns, { seq, user: begun.turn.user }])].filter(([part]) =>
      shown.has(part),
    ),
  );
  const older = [...files].filter(([, file]) => file.seq < seq).map(([part]) => part);
  const hasBeenRead = progress.contents.length > 0;
  const isOwnLeft = hasBeenRead && older.length < files.size;
  return [...stepsWithout(older), ...(isOwnLeft ? [[...files.keys()]] : [])].map((parts) =>
    parts.flatMap((part) => files.get(part) ?? []),
  );
}

/**
 * The answer to a request whose files the model may not be able to read any more: where it may have refused it for one
 * of them, it is asked again without those of older turns. `leftOutFiles` of the answer says what was left out,
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
  if (!error || !mayBeForFile(error)) return answer;
  for (const files of steps(turn, first)) {
    const all = [...known, ...files];
    const next = await ask(requestWithout(all));
    if (!next.error) return { ...next, leftOutFiles: all };
    // Nothing is known of the files where the model was busy, or the turn was stopped.
    if (!mayBeForFile(next.error)) return { ...next, leftOutFiles };
  }
  return { ...answer, error: refusedMessageError(error, addressesInMessage(begun)) };
}

/**
 * The same for a dialogue that the client keeps: what is left out is told to nobody, and sent again with the next message.
 * `earlier` counts the files in front of the newest message.
 */
export async function askWithoutEarlierFiles(
  { request, earlier }: { request: ModelRequest; earlier: number },
  ask: (request: ModelRequest) => Promise<FittingAnswer>,
): Promise<FittingAnswer> {
  const answer = await ask(request);
  const { error } = answer;
  if (!error || !mayBeForFile(error)) return answer;
  const files = filesIn(request.contents);
  for (const step of stepsWithout(files.slice(0, earlier))) {
    const leftOut = new Set(step);
    const contents = request.contents.map((content) => withoutFiles(content, leftOut));
    const next = await ask({ ...request, contents });
    if (!next.error || !mayBeForFile(next.error)) return next;
  }
  const addresses = files
    .slice(earlier)
    .flatMap(({ fileData }) => (fileData ? [fileData.fileUri] : []));
  return { ...answer, error: refusedMessageError(error, addresses) };
}
