// SPDX-License-Identifier: MIT
// T18: threads that all live at once and end at once, then threads one after another.
import java.util.concurrent.CountDownLatch;

public class Threads {
    public static void main(String[] arguments) throws Exception {
        int together = Integer.parseInt(arguments[0]), later = Integer.parseInt(arguments[1]);
        CountDownLatch alive = new CountDownLatch(together), end = new CountDownLatch(1);
        Thread[] threads = new Thread[together];
        for (int i = 0; i < together; i++) {
            threads[i] = new Thread(() -> {
                alive.countDown();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    System.out.println("interrupted");
                }
            });
            threads[i].start();
        }
        alive.await();
        end.countDown();
        for (Thread thread : threads)
            thread.join();
        for (int i = 0; i < later; i++) {
            Thread thread = new Thread(() -> { });
            thread.start();
            thread.join();
        }
        System.out.println("threads " + (together + later));
    }
}
