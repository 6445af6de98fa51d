import type { Row } from './columns.ts';

interface RowFile {
  /** Names of the rows of the table that the file holds, in their order. */
  names: readonly string[];
  load: () => Promise<{ rows: Readonly<Record<string, Row>> }>;
}

/** Every row of the table, by the file that holds it. */
export const rowFiles: readonly RowFile[] = [
  { names: ['ai 5', 'ai 6', 'ai 7'], load: () => import('./own/ai-sdk.ts') },
  { names: ['@ai-sdk/react'], load: () => import('./installed/react-hook.ts') },
  {
    names: ['@assistant-ui/react', '@assistant-ui/react-native'],
    load: () => import('./installed/assistant-ui.ts'),
  },
  {
    names: ['openai chat completions', 'openai runTools', 'openai parse'],
    load: () => import('./own/openai-chat.ts'),
  },
  { names: ['openai responses'], load: () => import('./own/openai-responses.ts') },
  { names: ['@openai/agents'], load: () => import('./installed/agents.ts') },
  { names: ['@langchain/openai'], load: () => import('./installed/langchain.ts') },
  {
    names: ['@ai-sdk/openai', '@ai-sdk/openai-compatible', '@ai-sdk/open-responses'],
    load: () => import('./installed/providers.ts'),
  },
  { names: ['@firebase/functions'], load: () => import('./own/firebase.ts') },
  {
    names: ['react-native-sse', 'eventsource'],
    load: () => import('./own/event-sources.ts'),
  },
];
