import { runningStacks, type StackNote } from '../local/stack/stack-notes.ts';
import { ArgumentError, recapCommand } from '#infra/command-line.ts';

/** The variables of the one stack that runs on this machine. Throws ArgumentError. */
export function localVariables(
  stacks: readonly StackNote[] = runningStacks(),
): Record<string, string> {
  const [stack, ...others] = stacks;
  if (!stack)
    throw new ArgumentError(
      `--local: no stack runs on this machine; start one with \`${recapCommand('dev')}\``,
    );
  if (others.length > 0)
    throw new ArgumentError(
      `--local: several stacks run (${stacks.map(({ chatUrl }) => chatUrl).join(', ')}); stop all but one`,
    );
  if (!stack.variables['FIRESTORE_EMULATOR_HOST'])
    throw new ArgumentError(
      `--local: this stack keeps its documents, its events and its dead letters in the memory of its own process, where no other can read them; start it with emulators (\`${recapCommand('dev')}\` without --embedded)`,
    );
  return stack.variables;
}
