import type { AgentCase, Step } from './agent-cases.ts';

const artifacts =
  'Agents of Genkit are code that makes artifacts; here a model answers, and what an app keeps beside the messages is its own.';
const customState =
  'Agents of Genkit are code with a state of its own; here an app keeps such things in `metadata` of the conversation, which no turn changes.';

const agents: Readonly<Record<string, string>> = {
  customAgentWithArtifacts: artifacts,
  customAgentWithArtifactsStore: artifacts,
  customAgentWithCustomState: customState,
  customAgentWithMultiCustomState: customState,
  customAgentWithCustomStateStore: customState,
};

const isClientManaged = (agent: string) =>
  agent === 'promptAgent' || agent === 'promptAgentWithTools';

/** Why a case asks for something that the service means to have no place for; undefined: it can be run. */
export function otherConcept({ agent }: AgentCase, steps: readonly Step[]): string | undefined {
  const known = agents[agent];
  if (known !== undefined) return known;
  const inits = steps.flatMap((step) => (step.type === 'send' ? [step.init] : []));
  if (!isClientManaged(agent)) return undefined;
  if (inits.some(({ state }) => state !== undefined))
    return 'The client would keep the history and send it back; here the server keeps it.';
  if (inits.some(({ sessionId }) => sessionId !== undefined))
    return 'An agent without a store knows no sessions; here every conversation is stored.';
  return undefined;
}
