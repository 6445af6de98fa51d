import { showContext } from '#functions/chat/context/show-context.ts';
import type { ContextItemView } from '#shared/wire/resources/context.ts';
import { indented } from '#infra/terminal-text.ts';
import { GENERATION_MAX } from '#shared/conversation/documents/paths.ts';
import { conversationArg, opsCommand } from '../command.ts';
import { wholeNumber } from '../arguments.ts';
import { readOwned } from '#infra/ops/owner.ts';
import { figure, toTable } from '../screen.ts';

/** A text, or contents as JSON: what a call sends. */
const textOf = ({ content }: ContextItemView): string =>
  typeof content === 'string' ? indented(content) : JSON.stringify(content);

/** What the next call would send, piece by piece; with a generation, what one of that generation was sent. */
export const contextCommand = opsCommand({
  name: 'context',
  description: 'Shows what the model sees of a conversation: figures, and with --text the texts.',
  args: {
    ...conversationArg,
    generation: { type: 'string', valueHint: 'N', description: 'an earlier one' },
    text: { type: 'boolean', default: false, description: 'the texts' },
  },
  async run({ args, project, screen }) {
    const { caller, conversationId } = await readOwned(project, args.conversation);
    const generation =
      args.generation === undefined
        ? undefined
        : wholeNumber(args.generation, { option: '--generation', least: 0, most: GENERATION_MAX });
    const shown = await showContext(project.chat, { caller, conversationId, generation });
    const { items, ...rest } = shown;
    const isTold = args.text;
    screen.json({
      ...rest,
      items: items.map(({ content, ...item }) => (isTold ? { ...item, content } : item)),
    });
    screen.print(
      `generation ${shown.generation}, ${figure(shown.contextTokens)} tokens${shown.shrunken ? ', shrunken: over the hard threshold' : ''}\n`,
    );
    screen.print(
      toTable<ContextItemView>(
        [
          { title: 'piece', text: ({ kind }) => kind },
          { title: 'turn', text: ({ seq }) => figure(seq), isFigure: true },
          { title: 'tokens', text: ({ tokens }) => figure(tokens), isFigure: true },
          ...(isTold ? [{ title: 'text', text: textOf }] : []),
        ],
        items,
      ),
    );
    return 0;
  },
});
