import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { GENERATION_MAX } from '#shared/conversation/documents/paths.ts';
import { conversationArg, opsCommand, yesArg } from '../command.ts';
import { wholeNumber } from '../arguments.ts';
import { readOwned, rehearse } from '#infra/ops/owner.ts';
import { figure } from '../screen.ts';

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
    const { caller, conversationId, conversation } = await readOwned(project, args.conversation);
    const request = { caller, conversationId, generation, locale: undefined };
    if (args.yes) {
      const view = await restoreGeneration(project.chat, request);
      screen.json(view);
      screen.print(
        `generation ${view.generation} goes on from ${generation}: ${figure(view.afterTokens)} tokens, ${figure(view.beforeTokens)} before`,
      );
      return 0;
    }
    const wouldWrite = await rehearse(project.chat, (chat) => restoreGeneration(chat, request));
    const next = conversation.value.generation + 1;
    screen.json({ dryRun: true, wouldWrite });
    screen.print(
      wouldWrite
        ? `would make generation ${next} of generation ${generation}; --yes does it`
        : `nothing would change: generation ${generation} is in use`,
    );
    return 0;
  },
});
