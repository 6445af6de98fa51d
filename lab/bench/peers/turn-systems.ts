import type { PeerScript } from './peer-process.ts';

/** One way in which a peer keeps conversations: a line of the picture. */
export interface TurnSystem extends PeerScript {
  /** Begins the names of its figures. */
  name: string;
  title: string;
  /** Whether it stores in the Firestore emulator; else in a file of its own. */
  isOnEmulator: boolean;
}

/** All that are measured, each as its documentation says to use it. */
export const turnSystems: readonly TurnSystem[] = [
  {
    name: 'genkit',
    title: 'Genkit, Firestore session store',
    peer: 'genkit',
    script: 'turns.ts',
    isOnEmulator: true,
  },
  {
    name: 'adk',
    title: 'ADK, database session service (file)',
    peer: 'adk',
    script: 'turns.ts',
    isOnEmulator: false,
  },
  {
    name: 'langgraph',
    title: 'LangGraph, Firestore checkpointer',
    peer: 'langgraph',
    script: 'turns.ts',
    isOnEmulator: true,
  },
  {
    name: 'langgraph-summaries',
    title: 'LangGraph with summarizationMiddleware',
    peer: 'langgraph',
    script: 'turns.ts',
    args: ['summaries'],
    isOnEmulator: true,
  },
  {
    name: 'mastra',
    title: 'Mastra, 10 newest messages (file)',
    peer: 'mastra',
    script: 'turns.ts',
    isOnEmulator: false,
  },
  {
    name: 'mastra-whole',
    title: 'Mastra, whole conversation (file)',
    peer: 'mastra',
    script: 'turns.ts',
    args: ['whole'],
    isOnEmulator: false,
  },
];
