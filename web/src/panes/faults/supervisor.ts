import type { PageConfig } from '#web/api/session.ts';

/** A call of the fake Gemini, without any text. */
export interface ModelCall {
  n: number;
  role: string;
  fault?: string;
}

export interface SupervisorState {
  killable: readonly string[];
  /** Null when a real model answers, which takes no orders. */
  model: { waitingFaults: number } | null;
}

/** The supervisor did not do as it was told: why, in its own words. */
class SupervisorError extends Error {
  override readonly name = 'SupervisorError';
}

type Address = NonNullable<PageConfig['supervisor']>;

/** Orders to the supervisor of the local stack. All throw SupervisorError. */
export function createSupervisor({ url, token }: Address, fetchOf: typeof fetch) {
  async function order<T>(path: string, body?: object): Promise<T> {
    const response = await fetchOf(`${url}${path}`, {
      headers: {
        'x-recap-supervisor-token': token,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new SupervisorError(`${url}: ${String(error)}`, { cause: error });
    });
    const answer: T & { problem?: string } = JSON.parse(await response.text());
    if (!response.ok) throw new SupervisorError(answer.problem ?? `HTTP ${response.status}`);
    return answer;
  }

  const calls = async (after: number): Promise<readonly ModelCall[]> =>
    (await order<{ calls: ModelCall[] }>(`/model/calls?after=${after}`)).calls;

  return {
    state: () => order<SupervisorState>('/state'),
    kill: (part: 'chat' | 'compaction') => order<object>('/kill', { part }),
    cut: () => order<object>('/cut', {}),
    modelFaults: (faults: {
      kind: 'quota' | 'unavailable' | 'safety';
      times: number;
      of: 'chat' | 'summariser';
    }) => order<object>('/model/faults', faults),
    vices: (vices: { inventive?: boolean; slowMs?: number }) =>
      order<object>('/model/vices', vices),
    pace: (tokensPerSecond: number) => order<object>('/model/timing', { tokensPerSecond }),
    redeliver: (event: { conversationId: string; requestId: string; times: number }) =>
      order<{ statuses: number[] }>('/redeliver', event),
    reset: () => order<object>('/reset', {}),
    callsAfter: calls,
    /** Number of the newest call; those that a scenario makes come after it. */
    lastCall: async () => (await calls(0)).at(-1)?.n ?? 0,
  };
}

export type Supervisor = ReturnType<typeof createSupervisor>;
