/** Who waits for the answer of a turn, by their connections. */
export interface Subscribers {
  /** Counts a connection until it is closed, which `left` tells. */
  attend(left: AbortSignal): void;
  /** The connections that are open. */
  present(): readonly AbortSignal[];
}

/**
 * Nobody yet. A phone that fell off the net counts until its connection is closed, which the platform in
 * front notices late.
 */
export function createSubscribers(): Subscribers {
  let known: readonly AbortSignal[] = [];
  const present = () => known.filter(({ aborted }) => !aborted);
  return {
    attend: (left) => {
      known = [...present(), left];
    },
    present,
  };
}
