// Reads whether the server has demo data, and the login of the demo account.
export interface DemoLogin {
  login: string;
  password: string;
}

export async function fetchDemo(): Promise<DemoLogin | null> {
  try {
    const response = await fetch('/playground.json');
    const { demo } = await response.json();
    return demo?.login && demo?.password ? demo : null;
  } catch {
    // The log-in form works without it.
    return null;
  }
}
