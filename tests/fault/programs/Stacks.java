// SPDX-License-Identifier: MIT
// T10, T11: threads with the least stack that the machine grants run into its guard page and into null: both are SIGSEGVs that
// its handler turns into exceptions. T17: a stack that nobody can grant.
public class Stacks {
    static int overflows, nulls;

    static int deep(int n) {
        return deep(n + 1) + 1;
    }

    static void hurtYourself() {
        try {
            deep(0);
        } catch (StackOverflowError e) {
            overflows++;
        }
        for (int i = 0; i < 10; i++)
            try {
                Object nothing = System.getProperty("nothing");
                nothing.hashCode();
            } catch (NullPointerException e) {
                nulls++;
            }
    }

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 200; i++) {
            Thread thread = new Thread(null, Stacks::hurtYourself, "small", 1);
            thread.start();
            thread.join();
        }
        int refused = 0;
        for (int i = 0; i < 100; i++)
            try {
                new Thread(null, Stacks::hurtYourself, "huge", 1L << 46).start();
            } catch (OutOfMemoryError e) {
                refused++;
            }
        System.out.println("overflows " + overflows + " nulls " + nulls + " refused " + refused);
        System.exit(7);
    }
}
