import type { ServerTool } from '../chat/turns/tools/toolbox.ts';

/**
 * The functions that this deployment runs for the model, beside the built-in ones. docs/guides/tools.md shows
 * how one is written; it is declared to the model in every conversation as soon as it stands here.
 */
export const serverTools: readonly ServerTool[] = [];
