import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import type { Note } from '#shared/memory/note.ts';
import { SEARCH_TEXT_MAX_CHARACTERS } from '#shared/wire/limits.ts';
import { changeNotes } from '#functions/memory/change-notes.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { memoryNotFound } from '#functions/chat/features/memory/memory-errors.ts';
import { readSaidTurns } from './said-turns.ts';
import type { ServerTool, ToolCallContext } from './server-tool.ts';

/** A few reads and a commit. */
const TIMEOUT_MS = 10_000;
/** Notes that are shown to choose from. */
const CANDIDATES_MAX = 5;
/** What the model is told to do with candidates. */
const ASK = 'Nothing was forgotten. Ask the user which one, with words that only that note has.';
/** A wish to forget is said now, or right before. */
const TURNS_HEARD = 2;

const parameters = z.strictObject({
  id: z.string().max(64).optional().describe('Id of the note, if it is known.'),
  query: z
    .string()
    .max(SEARCH_TEXT_MAX_CHARACTERS)
    .optional()
    .describe('Words of the note, if its id is not known.'),
});

type Dependencies = Pick<ChatDependencies, 'store' | 'cache' | 'clock'>;

/** 400: a tool or a document may want a note gone, not the user. */
const notAskedError = () =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'MEMORY_NOT_SAID',
    message: 'the user did not ask to forget the note',
    publicMessage:
      'Not forgotten: the user has not asked to forget this note in the last messages. Ask the user, naming what it says.',
  });

const candidateOf = ({ id, text }: Note) => ({ id, text });

/**
 * The tool with which the model forgets a note about the user, by its id or by words that it has. One note a call, and
 * only the one that the user asks to forget in the last two messages (MEMORY_NOT_SAID), so that no tool output empties the
 * memory; where another one or several may be meant, the model gets the candidates.
 */
export const forgetMemoryTool = (dependencies: Dependencies): ServerTool<typeof parameters> => ({
  name: 'forget_memory',
  description:
    'Forgets one note about the user when the user asks for it. Give its id, or words of it as query; where several notes fit they are listed, and none is forgotten.',
  parameters,
  timeoutMs: TIMEOUT_MS,
  async run({ id, query }, context: ToolCallContext) {
    const { turns } = await readSaidTurns(dependencies, context);
    const { decideForget } = await import('#shared/memory/decide-forget.ts');
    const heard = turns.slice(-TURNS_HEARD).map(({ text }) => text);
    return changeNotes<Record<string, unknown>>(dependencies, context.caller.uid, ({ notes }) => {
      const decision = decideForget(notes, { id, query }, heard);
      switch (decision.kind) {
        case 'unknown':
          throw memoryNotFound(id ?? query ?? '');
        case 'notSaid':
          throw notAskedError();
        case 'choose': {
          const candidates = decision.notes.slice(0, CANDIDATES_MAX).map(candidateOf);
          return { result: { forgotten: false, candidates, ask: ASK } };
        }
        case 'forget': {
          const result = { forgotten: true, ...candidateOf(decision.note) };
          return { result, notes: notes.filter((each) => each !== decision.note) };
        }
      }
    });
  },
});
