import { signal } from '@preact/signals';
import type { App } from '#web/state/app.ts';
import { LEAST_THRESHOLD_TOKENS } from '#web/state/context/compaction-steps.ts';
import { pause } from '#web/state/waiting.ts';
import { sayTo, showBeside } from '../tools.ts';
import { createPlayer } from './player.ts';
import type { PlayableRecording } from './recording.ts';

/** A player that says what it plays in a new conversation of the app, which is shown meanwhile. */
export function createAppPlayer(app: App) {
  // As low as it may be, so that compactions are seen soon.
  const settings = signal({ thresholdTokens: LEAST_THRESHOLD_TOKENS, gapMs: 500 });
  const player = createPlayer({
    say: async (text) => {
      const shown = app.open.peek();
      if (shown.id !== id) return 'left';
      return sayTo(shown, text);
    },
    gapMs: () => settings.peek().gapMs,
    wait: pause,
  });
  let id = '';
  return {
    settings,
    player: {
      ...player,
      play: async (recording: PlayableRecording) => {
        player.stop();
        id = crypto.randomUUID();
        const { thresholdTokens } = settings.peek();
        await app.api.create({ id, title: recording.id, settings: { thresholdTokens } });
        showBeside(app, id);
        await player.play(recording);
      },
    },
  };
}
