const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

/** English words with a capital that are no names: at the beginning of a sentence, or always. */
export const commonCapitals = set(
  `i i'm i'd i'll i've a an the this that these those it it's its he she we you they my your our their his her
  me him us them there here what when where which who whom whose why how yes yeah yep no nope not ok okay oh ah
  hi hey hello dear thanks thank please sorry great good nice cool wow awesome amazing sure right well so and but
  or if then also just only maybe perhaps actually however because since while although though after before
  during with without from to in on at by for of as up down out over into about against between under can could
  would will shall should may might must do does did don't doesn't didn't is are was were be been being am
  have has had having get got getting go going gone let let's make made see saw look looking find search book
  show tell give take want need like love hope think know feel sounds sound looks seems seem all any some every
  each both many much more most few one two three first second third next last another other same such very
  really too still again always never often sometimes today tomorrow yesterday now later soon once
  monday tuesday wednesday thursday friday saturday sunday morning afternoon evening
  mr mrs ms dr am pm ok tv pc id faq ps etc vs fyi asap lol omg haha congrats congratulations absolutely
  definitely exactly glad happy enjoy keep stay take care bye goodbye cheers welcome anyway besides instead
  it'll that's there's what's who's he's she's they're we're you're we've you've they've can't won't isn't
  aren't wasn't weren't couldn't wouldn't shouldn't hasn't haven't hadn't speaking having being got gotta gonna
  wanna alright agreed understood noted correct perfect fine interesting beautiful fantastic wonderful lovely
  true false none null undefined error warning info note todo user assistant system model tool session turn
  step part question answer hmm hm um uh aww aw yay whoa damn god gosh since given based using add create use
  check read write run change update remove delete fix help explain compare set start stop open close call send
  cancel confirm proceed modify reply`,
);

/** Words that say yes, no, please and the like: they answer without a value. */
export const fillers = set(
  `yes yeah yep yup no nope not ok okay sure right correct fine good great perfect thanks thank you please hi hello
  hey oh well so just only the a an it it's its that that's this is was be i i'm i'd i'll i've me my we our us like
  would want need to in at on for from with of by and or go let's let do does did can could will have has had am
  are they them there here one ones any all some nothing none really very much more also too actually maybe think
  know mean guess prefer rather either both now then today absolutely definitely exactly sounds sound looks look
  nice cool awesome wow lol haha alright agreed confirm confirmed proceed ahead help what which who when where why
  how if but because as your you're but name called named called's make made book show find search try take get
  give see love loved enjoy enjoyed happy glad sorry welcome bye stop done everything anything something
  네 예 아니요 아니오 응 어 그래 좋아 좋아요 감사합니다 고마워 맞아 맞아요 はい いいえ うん ううん そうです お願いします
  ありがとう ありがとうございます 好 好的 是 是的 对 嗯 不 不是 谢谢 可以 行 没有 ja nein danke bitte oui non merci sí si
  gracias não sim obrigado obrigada grazie`,
);
