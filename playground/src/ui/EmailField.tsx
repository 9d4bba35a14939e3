// A mail address. The type is text: the browser's own rules for addresses are others than those of the server, whose error is shown.
import { TextField } from './Form.tsx';

export function EmailField(props: { label: string; required?: boolean; hint?: string; defaultValue?: string }) {
  return <TextField name="email" inputMode="email" autoComplete="email" spellCheck={false} autoCapitalize="none" placeholder="you@example.org" {...props} />;
}
