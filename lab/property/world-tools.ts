import { createToolbox, type Toolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { tool } from '#test/support/tools/tool-world.ts';

const tools = createToolbox([
  tool('look', {}, (_, { key }) => Promise.resolve({ output: `seen under ${key}` })),
  tool('ask', {}, () => Promise.reject(new Error('nobody answers'))),
]);

/** The tools of every server. They are not declared: the prompts of those who call none are as they were. */
export const worldTools: Toolbox = { ...tools, declarations: [] };
