import { runningStacks, type StackNote } from '../local/stack/stack-notes.ts';
import { ArgumentError, wholeNumber } from './arguments.ts';

const portOf = ({ chatUrl }: StackNote) => Number(new URL(chatUrl).port);

function chosenStack(port: string | undefined, stacks: readonly StackNote[]): StackNote {
  const wanted =
    port === undefined
      ? undefined
      : wholeNumber(port, { option: '--port', least: 1, most: 65_535 });
  const ports = stacks.map(portOf).join(', ');
  const found = stacks.filter((stack) => wanted === undefined || portOf(stack) === wanted);
  const [stack] = found;
  if (!stack)
    throw new ArgumentError(
      stacks.length === 0
        ? '--local: no stack runs on this machine; start one with `npm start`'
        : `--port: no stack has its chat function on port ${wanted}; there are ${ports}`,
    );
  if (found.length > 1)
    throw new ArgumentError(`--local: several stacks run (${ports}); choose one with --port N`);
  return stack;
}

/** The variables of a stack on this machine. Throws ArgumentError. */
export function localVariables(
  port: string | undefined,
  stacks: readonly StackNote[] = runningStacks(),
): Record<string, string> {
  const { variables, chatUrl } = chosenStack(port, stacks);
  if (!variables['FIRESTORE_EMULATOR_HOST'])
    throw new ArgumentError(
      '--local: this stack keeps its documents, its events and its dead letters in the memory of its own process, where no other can read them; start it with emulators (`npm start` without --embedded)',
    );
  return { ...variables, RECAP_CHAT_URL: chatUrl };
}
