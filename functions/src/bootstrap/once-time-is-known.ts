/** Who judges a token, by its times among other things. */
interface Verifier<Token, Proven> {
  verify(token: Token): Promise<Proven>;
}

/**
 * The same verifier, which judges nothing before the time is known: one that went by a wrong clock would refuse everybody,
 * and never hear of it, because what it refuses asks the database nothing. `verify` throws what `hear` throws, too.
 */
export const onceTimeIsKnown = <Token, Proven>(
  verifier: Verifier<Token, Proven>,
  hear: () => Promise<unknown>,
): Verifier<Token, Proven> => ({
  verify: async (token) => {
    await hear();
    return verifier.verify(token);
  },
});
