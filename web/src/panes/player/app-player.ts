import { signal } from '@preact/signals';
import type { App } from '#web/state/app.ts';
import { pause } from '#web/state/waiting.ts';
import { sayTo, showBeside } from '../tools.ts';
import { createPlayer } from './player.ts';
import type { PlayableRecording } from './recording.ts';

interface PlayerSettings {
  thresholdTokens: number;
  /** Between an answer and the next message. */
  gapMs: number;
}

/** A player that says what it plays in a new conversation of the app, which is shown meanwhile. */
export function createAppPlayer(app: App) {
  const settings = signal<PlayerSettings>({ thresholdTokens: 1_000, gapMs: 500 });
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
