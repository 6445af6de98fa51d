import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPlayer, type Played } from '#web/panes/player/player.ts';

const recording = { id: 'a', messages: ['One', 'Two', 'Three'] };

/** A player whose messages are answered when the test says so. */
function playerByHand() {
  const answers: PromiseWithResolvers<Played>[] = [];
  const said: string[] = [];
  const player = createPlayer({
    say: (text) => {
      said.push(text);
      const answer = Promise.withResolvers<Played>();
      answers.push(answer);
      return answer.promise;
    },
    gapMs: () => 0,
    wait: async () => {},
  });
  /** Ends the message that was said last; then everything that follows from it has happened. */
  const end = async (how: Played): Promise<void> => {
    answers.at(-1)?.resolve(how);
    await setImmediate();
  };
  return { player, said, end };
}

test('the player sends all messages, each after the answer to the one before', async () => {
  const { player, said, end } = playerByHand();

  const playing = player.play(recording);
  await setImmediate();
  await end('answered');
  expect(said).toEqual(['One', 'Two']);
  await end('answered');
  await end('answered');
  await playing;

  expect(said).toEqual(recording.messages);
  expect([player.state.value, player.position.value]).toEqual(['ended', 3]);
});

test('the player sends nothing while paused, and resumes', async () => {
  const { player, said, end } = playerByHand();
  const playing = player.play(recording);
  await setImmediate();

  await end('answered');
  player.pause();
  await end('answered');
  const whilePaused = [...said];
  player.resume();
  await setImmediate();
  await end('answered');
  await end('answered');
  await playing;

  expect(whilePaused).toEqual(['One', 'Two']);
  expect(player.state.value).toBe('ended');
});

test('the player stops at once, also while paused', async () => {
  const { player, said, end } = playerByHand();
  const playing = player.play(recording);
  await setImmediate();

  player.pause();
  player.stop();
  await end('answered');
  await playing;

  expect(said).toEqual(['One']);
  expect(player.state.value).toBe('stopped');
});

test.each(['left', 'failed'] as const)('a message that is %s ends the player', async (how) => {
  const { player, said, end } = playerByHand();
  const playing = player.play(recording);
  await setImmediate();

  await end(how);
  await playing;

  expect(said).toEqual(['One']);
  expect([player.state.value, player.position.value]).toEqual([how, 0]);
});

test('another recording ends the player’s current one', async () => {
  const { player, said, end } = playerByHand();
  void player.play(recording);
  await setImmediate();

  const second = player.play({ id: 'b', messages: ['Four'] });
  await setImmediate();
  await end('answered');
  await second;

  expect(said).toEqual(['One', 'Four']);
  expect([player.state.value, player.recording.value?.id]).toEqual(['ended', 'b']);
});
