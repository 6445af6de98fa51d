import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { conversationArg, opsCommand, yesArg } from '../command.ts';
import { wholeNumber } from '../arguments.ts';
import { readOwned, refuseUnsigned } from '../owner.ts';
import { rehearse, writeText } from '../rehearse.ts';
import { figure } from '../screen.ts';

const GENERATION_MAX = 99_999_999;

/** Brings an earlier generation back, as its owner would; 0 puts every turn back word for word. */
export const restoreCommand = opsCommand({
  name: 'restore',
  description: 'Goes back to an earlier generation of a conversation, as `:restore` does.',
  args: {
    ...conversationArg,
    ...yesArg,
    generation: {
      type: 'string',
      valueHint: 'N',
      required: true,
      description: 'the one to go back to; 0: none, every turn stands word for word',
    },
  },
  async run({ args, project, screen }) {
    const generation = wholeNumber(args.generation, {
      option: '--generation',
      least: 0,
      most: GENERATION_MAX,
    });
    const { caller, conversationId } = await readOwned(project, args.conversation);
    const request = { caller, conversationId, generation, locale: undefined };
    refuseUnsigned(project);
    if (args.yes) {
      const view = await restoreGeneration(project.chat, request);
      screen.json(view);
      screen.print(
        `generation ${view.generation} goes on from ${generation}: ${figure(view.afterTokens)} tokens, ${figure(view.beforeTokens)} before`,
      );
      return 0;
    }
    const rehearsed = await rehearse(project.chat, (chat) => restoreGeneration(chat, request));
    const lines = rehearsed.kind === 'writes' ? rehearsed.writes.map(writeText) : [];
    screen.json({ dryRun: true, writes: lines });
    screen.print(
      lines.length === 0
        ? `nothing would change: generation ${generation} is in use`
        : `one batch would:\n${lines.map((line) => `  ${line}`).join('\n')}\n--yes does it`,
    );
    return 0;
  },
});
